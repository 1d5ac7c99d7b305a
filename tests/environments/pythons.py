"""Other Pythons on this machine, for tests that need one; they say so when there is none."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest


@cache
def other_python(minor: int) -> Path:
    """A CPython 3.MINOR; the test is skipped when this machine has none."""
    places = [Path.home() / ".pyenv" / "versions", Path("/opt/python"), Path.home() / ".local/share/uv/python"]
    found = [path for place in places for path in sorted(place.glob(f"*3.{minor}*/bin/python3"))]
    found += [Path(folder) / f"python3.{minor}" for folder in ("/usr/local/bin", "/usr/bin")]
    for path in found:
        if path.is_file() and _version(path) == (3, minor):
            return path
    pytest.skip(f"there is no Python 3.{minor} on this machine")


def _version(path: Path) -> tuple[int, int] | None:
    told = subprocess.run([path, "-I", "-S", "--version"], capture_output=True, text=True, check=False, timeout=30)
    match = re.match(r"Python (\d+)\.(\d+)", told.stdout)
    return (int(match[1]), int(match[2])) if match else None


def here() -> str:
    """The version of the Python that runs the tests."""
    return ".".join(map(str, sys.version_info[:3]))
