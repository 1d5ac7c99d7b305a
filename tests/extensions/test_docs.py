"""The example of docs/extending-the-host.md is installed and used as it stands there."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from enfilade import hookspecs
from tests.extensions.packages import environment
from tests.layers.documents import DOCS, blocks

PAGE = "extending-the-host.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the example installed, and the configuration that uses it."""
    files = {block.name: block.text for block in blocks(PAGE) if block.name}
    assert files.keys() == {"my_extension.py", "my_command.py", "pyproject.toml", "enfilade.toml"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    project = tomllib.loads(files["pyproject.toml"])["project"]
    info = tmp_path / "my_extension-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {target}" for name, target in project["entry-points"]["enfilade"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[enfilade]", *lines, ""]))
    return tmp_path


def shell(folder: Path, command: str) -> str:
    """What a command says."""
    variables = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", **environment(folder)}
    done = subprocess.run(
        ["bash", "-euc", command], cwd=folder, env=variables, capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_works(folder: Path) -> None:
    assert shutil.which("enfilade", path=str(Path(sys.executable).parent))
    use, restrict = [block.text for block in blocks(PAGE, "sh")]
    said = shell(folder, use)
    assert "Ahoy, Ada!" in said
    assert "-- the harbour office" in said
    assert said.endswith("high tide in Oban is at 06:10\n")
    restricted = shell(folder, restrict)
    assert restricted.startswith("high tide in Oban is at 06:10\n")
    assert "calculator" in restricted
    assert "greet" not in restricted


def test_every_hook_is_in_the_table() -> None:
    text = (DOCS / PAGE).read_text()
    hooks = [name for name in dir(hookspecs) if name.startswith("enfilade_")]
    assert len(hooks) == 9
    assert all(f"| `{name}(" in text for name in hooks)
