"""Distributions with extensions, made on the spot."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from textwrap import dedent

from importlib_metadata import EntryPoint, distributions

_numbers = count(1)


def package(
    folder: Path, code: str, *, name: str = "my-extension", point: str = "mine", target: str = "", version: str = "1.2"
) -> str:
    """Installs a distribution of one module into a folder.

    Args:
        folder: The folder, which is on the path of whoever loads it.
        code: The module.
        name: The distribution's name.
        point: The entry point's name.
        target: What it names; empty is the module.
        version: The distribution's version.

    Returns:
        The module's name, which no other package has.
    """
    module = f"extension_under_test_{next(_numbers)}"
    (folder / f"{module}.py").write_text(dedent(code))
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[enfilade]\n{point} = {module}{target}\n")
    return module


def points(folder: Path) -> list[EntryPoint]:
    """The extensions in a folder."""
    found = distributions(path=[str(folder)])
    return [point for each in found for point in each.entry_points if point.group == "enfilade"]


def environment(folder: Path, **more: str) -> Mapping[str, str]:
    """Variables for a process that has the folder on its path."""
    return {"PYTHONPATH": str(folder), "HOME": str(folder), "NO_COLOR": "1", **more}
