"""`enfilade knowledge`."""

import click

from enfilade.cli.lazy import call

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Show the logs.")


@click.group(short_help="Make, search and list knowledge bases.")
def knowledge() -> None:
    """Knowledge bases: documents in parts that an agent can search.

    \b
    enfilade knowledge add handbook docs/ rules.pdf
    enfilade run "What are the mooring fees?" -t knowledge:handbook
    """  # noqa: D301 - click's mark for lines that stay as they are


@knowledge.command(short_help="Take documents in.")
@click.argument("name")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("-d", "--description", metavar="TEXT", help="What is in it, in words for the model.")
@click.option("--prune", is_flag=True, help="Take out documents below the given folders whose files are gone.")
@_JSON
@_VERBOSE
def add(
    name: str, paths: tuple[str, ...], *, description: str | None, prune: bool, as_json: bool, verbose: bool
) -> int:
    """Take documents into the knowledge base NAME, which is made where there is none.

    PATH is a file (text, Markdown, HTML, PDF) or a folder of such files. What is there already and has not changed
    stays; what has changed takes its place. Ctrl-C, or a file that cannot be read, leaves everything as it was.
    """
    return call("enfilade.cli.knowledge.add:add", name, paths, description, prune, as_json, verbose)


@knowledge.command("list", short_help="List the knowledge bases.")
@_JSON
def list_(*, as_json: bool) -> int:
    """List the knowledge bases."""
    return call("enfilade.cli.knowledge.list:show", as_json)


@knowledge.command(short_help="Show the documents of one.")
@click.argument("name")
@_JSON
def show(name: str, *, as_json: bool) -> int:
    """Show what is in a knowledge base."""
    return call("enfilade.cli.knowledge.show:show", name, as_json)


@knowledge.command(short_help="Take documents out, or remove all of it.")
@click.argument("name")
@click.argument("paths", metavar="[PATH...]", nargs=-1)
@_JSON
def remove(name: str, paths: tuple[str, ...], *, as_json: bool) -> int:
    """Take documents out of a knowledge base; without PATH remove the knowledge base.

    PATH is a file or a folder that was added (it may be gone), or a name that 'enfilade knowledge show' lists.
    """
    return call("enfilade.cli.knowledge.remove:remove", name, paths, as_json)


@knowledge.command(short_help="Search one, as an agent would.")
@click.argument("name")
@click.argument("query")
@click.option("-n", "--limit", metavar="N", type=click.IntRange(1, 50), help="How many passages, at most.")
@_JSON
@_VERBOSE
def search(name: str, query: str, *, limit: int | None, as_json: bool, verbose: bool) -> int:
    """Search a knowledge base, as an agent would, and print the passages, the best first."""
    return call("enfilade.cli.knowledge.search:search", name, query, limit, as_json, verbose)
