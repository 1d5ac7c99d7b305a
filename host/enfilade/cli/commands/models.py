"""`enfilade models`."""

import click

from enfilade.cli.lazy import call


@click.command(short_help="List the models.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")
def models(*, as_json: bool) -> int:
    """List the configured models and the built-in one. Nothing is asked of an endpoint."""
    return call("enfilade.cli.model_list:show", as_json)
