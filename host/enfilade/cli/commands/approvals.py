"""`enfilade approvals`."""

import click

from enfilade.cli.lazy import call

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")
_STORE = click.option(
    "--store",
    metavar="URL",
    help="Where the records are: sqlite:///FILE or postgresql+asyncpg://... It takes the place of what [store] says.",
)


@click.group(short_help="Answer tool calls that wait for somebody's word.")
def approvals() -> None:
    """Tool calls that wait for a yes or a no: those of runs whose layer 'approval' has via = "record".

    ID is a petition's id, or the first characters of it, four at least, when no other id begins so.
    """


@approvals.command("list", short_help="List the calls that wait.")
@click.option("--closed", is_flag=True, help="List those that do not wait any more instead, the newest first.")
@click.option("-n", "--limit", metavar="N", type=click.IntRange(min=1), default=100, show_default=True,
              help="How many.")  # fmt: skip
@_STORE
@_JSON
def list_(*, closed: bool, limit: int, store: str | None, as_json: bool) -> int:
    """List the tool calls that wait for a word, the oldest first."""
    return call("enfilade.cli.approvals.list:show", closed, limit, store, as_json)


@approvals.command(short_help="Allow a call.")
@click.argument("petition_id", metavar="ID")
@click.option("--arguments", metavar="JSON", help="An object; the call is made with it instead, and the model is told.")
@_STORE
@_JSON
def approve(petition_id: str, *, arguments: str | None, store: str | None, as_json: bool) -> int:
    """Allow a tool call, as it is or with other arguments."""
    return call("enfilade.cli.approvals.answer:approve", petition_id, arguments, store, as_json)


@approvals.command(short_help="Refuse a call.")
@click.argument("petition_id", metavar="ID")
@click.option("--reason", metavar="TEXT", default="", help="Why; the model is told.")
@_STORE
@_JSON
def deny(petition_id: str, *, reason: str, store: str | None, as_json: bool) -> int:
    """Refuse a tool call."""
    return call("enfilade.cli.approvals.answer:deny", petition_id, reason, store, as_json)
