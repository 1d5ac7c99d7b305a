"""`enfilade plugins`."""

import click

from enfilade.cli.commands import installing, watching
from enfilade.cli.lazy import call

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show the logs of the host and what plugins print.")


@click.group(short_help="List, check, install, remove and watch strategies.")
def plugins() -> None:
    """The strategies that are installed or configured."""


for _command in (installing.add, installing.update, installing.remove, installing.enable, installing.disable):
    plugins.add_command(_command)
for _command in (watching.status, watching.logs, watching.restart):
    plugins.add_command(_command)


@plugins.command("list", short_help="List the strategies.")
@_JSON
def list_(*, as_json: bool) -> int:
    """List the strategies. Reads metadata only: nothing of a plugin runs."""
    return call("enfilade.cli.plugins.list:show", as_json)


@plugins.command(short_help="Show what a strategy takes.")
@click.argument("name")
@_JSON
@_VERBOSE
def info(name: str, *, as_json: bool, verbose: bool) -> int:
    """Open a strategy and show its parameters (with --json their JSON Schema too).

    NAME is a strategy or a plugin of 'enfilade plugins list', or module:Class in the current folder.
    """
    return call("enfilade.cli.plugins.info:show", name, as_json, verbose)


@plugins.command(short_help="List what speaks against a strategy.")
@click.argument("name", metavar="NAME|module:Class")
@_JSON
@_VERBOSE
def check(name: str, *, as_json: bool, verbose: bool) -> int:
    """Open a strategy in a process of its own and list everything that speaks against it.

    NAME is a strategy or a plugin of 'enfilade plugins list'; module:Class is looked for in the current folder first.
    """
    return call("enfilade.cli.plugins.check:show", name, as_json, verbose)
