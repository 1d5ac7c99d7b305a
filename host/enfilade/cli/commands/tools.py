"""`enfilade tools`."""

import click

from enfilade.cli.lazy import call


@click.command(short_help="List the tools.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")
def tools(*, as_json: bool) -> int:
    """List the tools: configured ones, built-in ones, those of installed packages. Nothing of a package is imported."""
    return call("enfilade.cli.tool_list:show", as_json)
