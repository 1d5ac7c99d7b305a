"""`enfilade doctor`."""

import click

from enfilade.cli.lazy import call


@click.command(short_help="Check the installation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")
def doctor(*, as_json: bool) -> int:
    """Check the installation: versions, configuration, and whether a plugin's process starts."""
    return call("enfilade.cli.checkup:show", as_json)
