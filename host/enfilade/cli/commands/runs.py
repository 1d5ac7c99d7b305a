"""`enfilade runs`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from enfilade.cli.lazy import call

_Declared = TypeVar("_Declared", bound=Callable[..., Any])

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")
_STORE = click.option(
    "--store",
    metavar="URL",
    help="Where the records are: sqlite:///FILE or postgresql+asyncpg://... It takes the place of what [store] says.",
)
STATES = ("running", "succeeded", "failed", "cancelled", "interrupted")
"""Those of `enfilade.store.state.State`, which help does not load; a test compares the two."""

_LIST_OPTIONS = (
    click.option("--status", type=click.Choice(STATES), help="Only runs that stand so."),
    click.option("--strategy", metavar="NAME", help="Only runs of this strategy."),
    click.option("--user", metavar="ID", help="Only runs of this user."),
    click.option("--conversation", metavar="ID", help="Only runs of this conversation."),
    click.option("-n", "--limit", metavar="N", type=click.IntRange(min=1), default=20, show_default=True,
                 help="How many, the newest first."),
)  # fmt: skip


def _list_options(command: _Declared) -> _Declared:
    for option in reversed(_LIST_OPTIONS):
        command = option(command)
    return command


@click.group(short_help="List, show, export and delete recorded runs.")
def runs() -> None:
    """The runs that were recorded: those of hosts with a [store], and those with --record or --conversation.

    ID is a run's id, or the first characters of it, four at least, when no other id begins so.
    """


@runs.command("list", short_help="List the newest runs.")
@_list_options
@_STORE
@_JSON
def list_(*, store: str | None, as_json: bool, limit: int, **wanted: str | None) -> int:
    """List recorded runs, the newest first."""
    return call("enfilade.cli.runs.list:show", wanted, limit, store, as_json)


@runs.command(short_help="Show what a run did.")
@click.argument("run_id", metavar="ID")
@_STORE
@_JSON
def show(run_id: str, *, store: str | None, as_json: bool) -> int:
    """Show a run: its question, each model call with its tool calls, the answer, what it used."""
    return call("enfilade.cli.runs.show:show", run_id, store, as_json)


@runs.command(short_help="Write a run out as one JSON document.")
@click.argument("run_id", metavar="ID")
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Write it to a new file instead of standard output.")  # fmt: skip
@_STORE
@_JSON
def export(run_id: str, *, output: Path | None, store: str | None, as_json: bool) -> int:
    """Write a run out, with every message and the files that were kept, as one JSON document."""
    return call("enfilade.cli.runs.export:export", run_id, output, store, as_json)


@runs.command(short_help="Delete the records of a run, or of all old ones.")
@click.argument("run_id", metavar="[ID]", required=False)
@click.option(
    "--before",
    metavar="DATE|AGE",
    help="Delete all runs that have ended and began before a date "
    "(2026-11-30, 2026-11-30T18:00) or longer ago than an age (12h, 30d, 8w).",
)
@click.option("--with-usage", is_flag=True, help="Delete its token counts too; the sums of users and conversations "
              "become smaller.")  # fmt: skip
@_STORE
@_JSON
def delete(run_id: str | None, *, before: str | None, with_usage: bool, store: str | None, as_json: bool) -> int:
    """Delete a run, or all old ones, with all records. Their token counts stay unless told otherwise."""
    return call("enfilade.cli.runs.delete:delete", run_id, before, with_usage, store, as_json)
