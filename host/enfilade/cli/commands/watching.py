"""The commands of `enfilade plugins` that look at the hosts that run, and ask something of them."""

import click

from enfilade.cli.lazy import call

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")


@click.command(short_help="Show how the plugins of running hosts stand.")
@_JSON
def status(*, as_json: bool) -> int:
    """Show how the plugins stand of every host of this user that runs: state, processes, runs, crashes, and why.

    A host shows a plugin when it has first been used there.
    """
    return call("enfilade.cli.plugins.status:show", as_json)


@click.command(short_help="Show what a plugin printed.")
@click.argument("name")
@click.option("-f", "--follow", "going_on", is_flag=True, help="Go on with what is added, until Ctrl-C.")
@click.option(
    "-n",
    "--lines",
    "number",
    metavar="N",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="How many of the last lines.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
def logs(name: str, number: int, *, going_on: bool, as_json: bool) -> int:
    """Show what the processes of a plugin printed, in all hosts of this user, and how their states changed.

    Secrets that the host knows are masked. NAME is a plugin of 'enfilade plugins list'.
    """
    return call("enfilade.cli.plugins.logs:show", name, number, going_on, as_json)


@click.command(short_help="Let running hosts start a plugin anew.")
@click.argument("name")
@_JSON
def restart(name: str, *, as_json: bool) -> int:
    """Let every running host start a plugin anew, one that crashed too often too.

    Runs that are under way end where they are; those that come go to the new process as soon as it is there. If it does
    not start, what ran goes on.
    """
    return call("enfilade.cli.plugins.restart:show", name, as_json)
