"""Servers in the configuration and on the command line."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from enfilade.cli.mcp_servers import given_servers
from enfilade.cli.usage import CommandLineError
from enfilade.config import load_config
from enfilade.errors import ConfigError
from tests.support.enfilade_command import Enfilade, emptied
from tests.support.mcp_setup import SCRIPT, until

PYTHON = f"{sys.executable} -u {SCRIPT}"


@pytest.fixture
def enfilade(tmp_path: Path) -> Iterator[Enfilade]:
    """The command in an empty folder; nothing of its servers is left behind."""
    (tmp_path / "folder").mkdir()
    with emptied() as runtime:
        yield Enfilade(tmp_path / "folder", runtime)


def config(tmp_path: Path, text: str) -> Path:
    """A configuration file."""
    path = tmp_path / "enfilade.toml"
    path.write_text(text)
    return path


def test_servers_stand_in_the_configuration_and_variables_go_over_them(tmp_path: Path) -> None:
    path = config(tmp_path, '[mcp.files]\ncommand = "npx"\nargs = ["-y", "x"]\nenv_from = ["KEY"]\ntimeout = 5\n')
    read = load_config(path, {"ENFILADE_MCP__FILES__COMMAND": "node", "ENFILADE_MCP__WEB__URL": "http://localhost/mcp"})
    assert read.mcp["files"].words() == ("node", "-y", "x")
    assert read.mcp["files"].timeout == 5
    assert read.mcp["web"].url == "http://localhost/mcp"


def test_a_command_may_be_a_whole_command_line(tmp_path: Path) -> None:
    path = config(tmp_path, "[mcp.files]\ncommand = \"npx -y 'a server' /tmp\"\n")
    assert load_config(path, {}).mcp["files"].words() == ("npx", "-y", "a server", "/tmp")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "give either command (a program to start) or url"),
        ('command = "x"\nurl = "http://h/"', "give either command (a program to start) or url"),
        ('command = " "', "give either command (a program to start) or url"),
        ('url = "ftp://h"', "url must start with http:// or https:// and name a host, got 'ftp://h'"),
        ('url = "http://"', "url must start with http:// or https:// and name a host, got 'http://'"),
        ('url = "http://h"\nargs = ["x"]', "args: this is not for a server at a url"),
        ('command = "x"\nheaders_env = { A = "B" }', "headers_env: this is not for a server started by a command"),
        ('command = "x \'y"', "cannot be split into words: No closing quotation"),
        ('command = "x"\ntimeout = 0', "expected more than 0, found the number 0"),
        ('command = "x"\nfolder = "/"', "mcp.files.folder: there is no such setting; there are: args, command, "),
    ],
)
def test_a_section_that_makes_no_sense_is_refused_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(config(tmp_path, f"[mcp.files]\n{text}\n"), {})
    assert fault in caught.value.message
    assert "mcp.files" in caught.value.message


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "server-everything"),
        ("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp", "server-filesystem"),
        ("uvx mcp-server-time --local-timezone Europe/London", "mcp-server-time"),
        ("uv run server.py", "server"),
        ("/usr/bin/python3.12 -u servers/tides.py", "tides"),
        ("./tide-server", "tide-server"),
        ("node dist/index.js", "index"),
        ("npx", "npx"),
        ("https://tides.example/mcp", "tides.example"),
    ],
)
def test_a_server_of_the_command_line_is_named_for_what_it_is(text: str, name: str) -> None:
    assert list(given_servers([text])) == [name]


def test_servers_of_the_command_line_have_names_of_their_own() -> None:
    assert list(given_servers(["python a.py", "python a.py"], {"a", "a-2"})) == ["a-3", "a-4"]


def test_what_is_no_command_and_no_address_is_refused() -> None:
    with pytest.raises(CommandLineError, match="give either command"):
        given_servers([""])


async def test_the_tools_of_a_server_are_used_from_the_command_line(enfilade: Enfilade) -> None:
    done = await enfilade("run", "Please call quick", "--mcp", f"{PYTHON} Good", "--json")
    assert done.code == 0, done.err
    assert done.outcome["answer"].startswith("quick says: its own")


async def test_the_tools_of_a_configured_server_are_used_by_its_name(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", f"[mcp.harbour]\ncommand = {json.dumps(PYTHON)}\nargs = []\n")
    enfilade.write(
        "enfilade.toml",
        f'[mcp.harbour]\ncommand = {json.dumps(sys.executable)}\nargs = ["-u", {json.dumps(SCRIPT)}, "Banners"]\n',
    )
    done = await enfilade("run", "Please call quick", "-t", "mcp:harbour:quick")
    assert done.code == 0, done.err
    assert done.text.startswith("quick says: its own")
    assert "warning: the MCP server 'harbour' printed to its stdout" in done.err


async def test_a_server_that_cannot_be_had_ends_the_command_with_the_reason(enfilade: Enfilade) -> None:
    done = await enfilade("run", "Hello", "--mcp", "no-such-program")
    assert done.code != 0
    assert (
        "the MCP server 'no-such-program' could not be started: there is no program 'no-such-program'; "
        "install it, or give its path"
    ) in done.err
    assert "Traceback" not in done.err


async def test_servers_of_the_configuration_are_listed_and_not_started(enfilade: Enfilade) -> None:
    enfilade.write(
        "enfilade.toml",
        '[mcp.files]\ncommand = "no-such-program --all"\n[mcp.web]\nurl = "http://u:p@h/mcp"\n'
        '[openapi.pets]\ndocument = "http://u:p@h/docs/pets.json?key=k"\n',
    )
    done = await enfilade("tools", "--json")
    rows = {row["name"]: row for row in json.loads(done.text)}
    assert rows["mcp:files"]["description"] == "the tools of the MCP server no-such-program --all"
    assert rows["mcp:web"] == {
        "name": "mcp:web",
        "origin": "configuration",
        "description": "the tools of the MCP server h",
    }
    assert rows["openapi:pets"]["description"] == "the operations of pets.json"
    assert rows["mcp:SERVER"]["origin"] == rows["openapi:FILE_OR_URL"]["origin"] == "builtin"


async def test_an_interruption_while_a_server_starts_leaves_nothing(enfilade: Enfilade, tmp_path: Path) -> None:
    record = tmp_path / "started"
    async with enfilade.running("run", "Hello", "--mcp", f"{PYTHON} Hangs {record}") as running:
        await until(record.exists, 20)
        running.signal(signal.SIGINT)
        done = await running.finished()
        assert await running.survivors() == []
    assert done.code == 130
    assert "Traceback" not in done.err
