"""What docs/tools.md shows is run: its commands, its configuration, its code."""

import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from enfilade.agent import AgentConfig
from enfilade.config import Config
from enfilade.tools.mcp.settings import McpSettings
from enfilade.tools.openapi.settings import OpenApiSettings
from tests.support.enfilade_command import Enfilade
from tests.support.mcp_setup import SCRIPT

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^    (enfilade .*)$", PAGE, re.MULTILINE)
ALONE = [command for command in COMMANDS if "mcp" not in command and "openapi" not in command]
SERVED = [command for command in COMMANDS if command not in ALONE]
PETS = """
openapi: 3.1.0
servers: [{url: "http://127.0.0.1:9/"}]
paths:
  /pets: {get: {operationId: listPets}}
  /pets/{id}: {get: {operationId: showPetById, parameters: [{name: id, in: path, required: true}]}}
  /orders: {post: {operationId: order}}
"""


def code(language: str, first: str) -> list[str]:
    """The blocks of a language whose first line is this comment."""
    return [text for name, text in BLOCKS if name == language and text.startswith(f"# {first}\n")]


@pytest.fixture
def enfilade(tmp_path: Path) -> Iterator[Enfilade]:
    """The command in a folder with the files that the page shows."""
    runtime = Path(tempfile.mkdtemp(prefix="docs-", dir="/tmp"))
    command = Enfilade(tmp_path, runtime)
    command.write("tides.py", code("python", "tides.py")[0])
    command.write("agent.toml", code("toml", "agent.toml")[0])
    yield command
    left = command.left_behind()
    shutil.rmtree(runtime)
    assert left == []


def configured() -> Config:
    """All that the page's blocks of `enfilade.toml` say, together."""
    return Config.model_validate(tomllib.loads("\n".join(code("toml", "enfilade.toml"))))


@pytest.mark.parametrize("command", ALONE)
async def test_the_commands_of_the_page_run(command: str, enfilade: Enfilade) -> None:
    done = await enfilade(*shlex.split(command)[1:])
    assert done.code == 0, done.err
    assert ("84" if "12 * 7" in command else "high tide in Oban") in done.text


def test_the_configuration_of_the_page_is_valid() -> None:
    config = configured()
    assert set(config.mcp) == {"files", "harbour", "weather"}
    assert config.mcp["harbour"].words() == ("python", "harbour_server.py")
    assert set(config.openapi) == {"pets"}
    agent = AgentConfig.model_validate(tomllib.loads(code("toml", "agent.toml")[0]))
    assert [entry.name for entry in agent.tools] == ["high_tide", None]


@pytest.mark.parametrize("command", SERVED)
async def test_the_commands_that_need_a_server_are_understood(command: str, enfilade: Enfilade) -> None:
    """Servers of our own stand in for those of the page; what they have is another matter."""
    enfilade.write("pets.yaml", PETS)
    program = enfilade.write("bin/npx", f"#!/bin/sh\nexec {sys.executable} -u {SCRIPT} Documented\n")
    program.chmod(0o755)
    enfilade.environment["PATH"] = f"{program.parent}:/usr/bin:/bin"
    enfilade.environment["HTTPS_PROXY"] = "http://127.0.0.1:9"  # nothing leaves this machine
    enfilade.write(
        "enfilade.toml",
        '[mcp.files]\ncommand = "npx"\n[openapi.pets]\ndocument = "pets.yaml"\noperations = ["listPets"]\n',
    )
    done = await enfilade(*shlex.split(command)[1:])
    unreachable = "weather.example" in command or "pets.example" in command
    assert (done.code == 0) is not unreachable, done.err
    if unreachable:
        assert "weather.example" in done.err or "pets.example" in done.err


@pytest.mark.parametrize(
    ("section", "settings"), [("MCP servers", McpSettings), ("OpenAPI documents", OpenApiSettings)]
)
def test_every_setting_stands_in_its_table(section: str, settings: type[McpSettings | OpenApiSettings]) -> None:
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == set(settings.model_fields)


def test_the_code_of_the_page_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    [own] = [text for name, text in BLOCKS if name == "python" and "class Depth" in text]
    exec(compile(own, "tools.md", "exec"), {"__name__": "tools_page"})
    assert "4.5 m" in capsys.readouterr().out


def test_functions_of_the_page_are_the_tools_it_says() -> None:
    space: dict[str, object] = {}
    exec(compile(code("python", "tides.py")[0], "tides.py", "exec"), space)
    assert {"high", "chart"} <= set(space)
