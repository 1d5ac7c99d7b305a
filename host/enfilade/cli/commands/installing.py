"""The commands of `enfilade plugins` that change what is installed."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from enfilade.cli.lazy import call
from enfilade.cli.plugins.install_options import InstallOptions

_Declared = TypeVar("_Declared", bound=Callable[..., Any])

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, of a failure too.")
_SPEC = "NAME[==V]|PATH|WHEEL"
_OPTIONS = (
    click.option("--python", metavar="X", help="The Python for it: a version such as 3.12, or a path. The host's own, "
                 "or one that the plugin asks for, when this is not given."),
    click.option("--allow-build", is_flag=True, help="Let code of packages run to build them. A folder or a source "
                 "archive needs it; wheels do not."),
    click.option("--find-links", metavar="PLACE", multiple=True, help="A folder of wheels to look at too; repeatable."),
    click.option("--no-index", is_flag=True, help="Ask no package index: only --find-links, and paths."),
    _JSON,
    click.option("-v", "--verbose", is_flag=True, help="Show what the tools and the plugin print."),
)  # fmt: skip


def _install_options(command: _Declared) -> _Declared:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(short_help="Install a plugin in an environment of its own.")
@click.argument("spec", metavar=_SPEC)
@_install_options
def add(spec: str, **given: Any) -> int:
    """Install a plugin in an environment of its own, open it there, and only then record it.

    Nothing of it is built unless that is allowed, and no file is taken whose hash is not known. A step that fails, or
    Ctrl-C, leaves everything as it was.

    \b
    enfilade plugins add some-strategy
    enfilade plugins add some-strategy==1.4.0 --python 3.12
    enfilade plugins add ./some_strategy-1.4.0-py3-none-any.whl
    """  # noqa: D301 - click's mark for lines that stay as they are
    return call("enfilade.cli.plugins.install:add", spec, InstallOptions(**given))


@click.command(short_help="Install a newer version beside the old, then swap.")
@click.argument("name", metavar="NAME[==V]")
@click.option("--from", "spec", metavar=_SPEC, help="What to install instead of what was asked for when it was added.")
@_install_options
def update(name: str, spec: str | None, **given: Any) -> int:
    """Install a plugin anew beside the old version, then put it in its place.

    What was added by its name is updated to the newest version, or to the one that is named; what was added from a file
    or folder is installed from there again, or from what --from names. Runs end on the version that they began on; if
    anything fails, the old version stays.
    """
    return call("enfilade.cli.plugins.install:update", name, spec, InstallOptions(**given))


@click.command(short_help="Remove an installed plugin.")
@click.argument("name")
@_JSON
def remove(name: str, *, as_json: bool) -> int:
    """Remove a plugin and its environment. Hosts that use it end their runs first."""
    return call("enfilade.cli.plugins.switch:remove", name, as_json)


@click.command(short_help="Let hosts use a disabled plugin again.")
@click.argument("name")
@_JSON
def enable(name: str, *, as_json: bool) -> int:
    """Let hosts use a plugin again that was disabled."""
    return call("enfilade.cli.plugins.switch:enable", name, as_json)


@click.command(short_help="Keep a plugin installed, and let no host use it.")
@click.argument("name")
@_JSON
def disable(name: str, *, as_json: bool) -> int:
    """Keep a plugin installed and let no host use it. Runs that are under way end first."""
    return call("enfilade.cli.plugins.switch:disable", name, as_json)
