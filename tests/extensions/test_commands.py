import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.extensions.packages import environment, package

COMMAND = '''
from pathlib import Path

import click
from enfilade.hookspecs import hookimpl

Path(__file__).with_suffix(".loaded").touch()

@click.command()
@click.argument("name")
def greet(name):
    """Greets somebody."""
    click.echo(f"Hello, {name}!")

@hookimpl
def enfilade_commands():
    return {"greet": f"{__name__}:greet", "lost": f"{__name__}:nothing", "wrong": f"{__name__}:COMMAND"}

COMMAND = 7
'''


async def run(folder: Path, *words: str, **variables: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "enfilade",
        *words,
        env={"PATH": os.environ["PATH"], **environment(folder, **variables)},
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_an_extension_brings_a_command(tmp_path: Path) -> None:
    package(tmp_path, COMMAND)
    assert await run(tmp_path, "greet", "Ada") == (0, "Hello, Ada!\n", "")


async def test_help_imports_no_extension(tmp_path: Path) -> None:
    module = package(tmp_path, COMMAND)
    code, out, _ = await run(tmp_path, "--help")
    assert code == 0
    assert "doctor" in out
    assert not (tmp_path / f"{module}.loaded").exists()


async def test_the_hosts_own_commands_import_no_extension_to_be_found(tmp_path: Path) -> None:
    module = package(tmp_path, COMMAND)
    code, out, _ = await run(tmp_path, "run", "--help")
    assert (code, "QUESTION" in out) == (0, True)
    assert not (tmp_path / f"{module}.loaded").exists()


async def test_a_restricted_extension_brings_no_command(tmp_path: Path) -> None:
    package(tmp_path, COMMAND)
    code, _, err = await run(tmp_path, "greet", "Ada", ENFILADE_LOAD_PLUGINS="")
    assert code == 2
    assert "No such command 'greet'" in err


@pytest.mark.parametrize(
    ("name", "text"), [("lost", "which fails: AttributeError"), ("wrong", "which is no click command")]
)
async def test_a_command_that_cannot_be_had_is_said_without_a_traceback(name: str, text: str, tmp_path: Path) -> None:
    package(tmp_path, COMMAND)
    code, _, err = await run(tmp_path, name)
    assert code == 1
    assert f"the command '{name}' is at " in err
    assert text in err
    assert "Traceback" not in err


async def test_a_broken_extension_does_not_keep_the_host_from_its_work(tmp_path: Path) -> None:
    package(tmp_path, "raise ValueError('no licence')", name="bad", point="bad")
    code, out, err = await run(tmp_path, "tools")
    assert code == 0
    assert "calculator" in out
    assert "Traceback" not in err


async def test_the_doctor_names_a_broken_extension_and_those_that_are_there(tmp_path: Path) -> None:
    package(tmp_path, COMMAND, name="good", point="good")
    package(tmp_path, "raise ValueError('no licence')", name="bad", point="bad")
    code, out, err = await run(tmp_path, "doctor")
    assert code == 1
    fault = "FAULT  extensions: the extension 'bad' of bad 1.2 is left out: ValueError: no licence\n"
    assert (fault in out, err) == (True, "")
    code, out, _ = await run(tmp_path, "doctor", ENFILADE_LOAD_PLUGINS="good")
    assert "ok     extensions: good\n" in out
