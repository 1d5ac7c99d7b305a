"""Tools that installed packages offer."""

import sys
import textwrap
from pathlib import Path

import pytest
from importlib_metadata import PathDistribution

from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions.threads import Threads
from enfilade.tools.loader import load_tools
from enfilade.tools.registry import GROUP, SourceRegistry
from tests.support.tool_calls import call
from tests.tools.loading import reason

pytestmark = pytest.mark.usefixtures("clean_imports")


def installed(tmp_path: Path, name: str, entries: str, module: str = "") -> PathDistribution:
    """A distribution as pip leaves it, with entry points and a module."""
    info = tmp_path / "site" / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}")
    (tmp_path / f"{name.replace('-', '_')}.py").write_text(textwrap.dedent(module))
    return PathDistribution(info)


async def test_tools_of_installed_packages_are_listed_unopened_and_imported_one_by_one(tmp_path: Path) -> None:
    good = installed(
        tmp_path, "tide-tools", "tide-table = tide_tools:table\n", "def table(port: str) -> str:\n    return port\n"
    )
    bad = installed(tmp_path, "bad-tools", "bad-tool = bad_tools:f\n", "raise RuntimeError('never imported')\n")
    points = [*good.entry_points, *bad.entry_points]
    registry = SourceRegistry(tmp_path, Threads(), installed=points)
    listed = {tool.spec: tool.origin for tool in registry.available()}
    assert listed["tide-table"] == "tide-tools"
    assert listed["bad-tool"] == "bad-tools"
    assert listed["calculator"] == "builtin"
    engine = await load_tools([ToolEntry(tool="tide-table", required=True)], registry)
    assert engine.names == ["tide-table"]
    assert (await call(engine, "tide-table", "Oban")).result.details["provider"] == "tide-tools"
    assert "bad_tools" not in sys.modules
    assert "RuntimeError: never imported" in await reason(tmp_path, "bad-tool", installed=points)
    assert "Did you mean 'tide-table'?" in await reason(tmp_path, "tide-tabel", installed=points)


async def test_two_packages_with_one_tool_name_are_both_named(tmp_path: Path) -> None:
    points = [
        *installed(tmp_path, "one-tools", "tide = one_tools:f\n").entry_points,
        *installed(tmp_path, "two-tools", "tide = two_tools:f\n").entry_points,
    ]
    message = await reason(tmp_path, "tide", installed=points)
    assert message == "the tool 'tide' is offered by one-tools and two-tools; uninstall all but one"
