"""Installed plugins: listing fifty of them, and adding one from a warm cache, as whole commands."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import uv

from benchmarks.figure import Figure, middle, milliseconds
from tests.environments.wheels import write_installed, write_plugin

INSTALLED = 50
TRIES = 7
LIST_SECONDS = 0.3
ADD_SECONDS = 1.0
PLUGIN = "greeter"


async def installed_plugins() -> list[Figure]:
    """`plugins list` with fifty plugins, and `plugins add` with everything in the installer's cache."""
    with _workplace() as (folder, environment):
        return await asyncio.to_thread(_measured, folder, environment)


def _measured(folder: Path, environment: dict[str, str]) -> list[Figure]:
    command = [sys.executable, "-m", "enfilade", "plugins"]
    links = ["--no-index", "--find-links", str(folder / "wheels")]
    adding, removing = [*command, "add", PLUGIN, *links], [*command, "remove", PLUGIN]
    added, bare = [], []
    _seconds(adding, environment)  # fills the caches
    for _ in range(TRIES):
        _seconds(removing, environment)
        added.append(_seconds(adding, environment))
        bare.append(_uv_alone(folder, links, environment))
    _multiply(folder / "root" / "plugins.lock")
    listed = [_seconds([*command, "list"], environment) for _ in range(TRIES)]
    interpreter = [_seconds([sys.executable, "-c", "import click, pydantic"], environment) for _ in range(TRIES)]
    return [
        _figure(
            f"plugins list, {INSTALLED} installed", listed, "python with click, pydantic", interpreter, LIST_SECONDS
        ),
        _figure("plugins add, warm cache", added, "uv venv and uv pip install", bare, ADD_SECONDS),
    ]


def _figure(name: str, values: list[float], beside: str, others: list[float], aim: float) -> Figure:
    value, other = middle(values), middle(others)
    return Figure(
        name=name,
        value=milliseconds(value),
        beside=f"{beside}: {milliseconds(other)}",
        ratio=value / other,
        target=f"{aim:g} s or less",
        met=value <= aim,
    )


@contextmanager
def _workplace() -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with wheels of a plugin and of all that the SDK needs, and an environment that leads there."""
    with tempfile.TemporaryDirectory(prefix="enfilade-installed-") as name:
        folder = Path(name)
        for part in ("pydantic", "grpcio", "protobuf"):
            write_installed(folder / "wheels", part)
        write_plugin(folder / "wheels", PLUGIN)
        own = {"PATH": os.environ["PATH"], "HOME": name, "UV_CACHE_DIR": f"{name}/cache", "UV_LINK_MODE": "copy"}
        yield folder, own | {"ENFILADE_PLUGINS_DIR": f"{name}/root", "UV_PYTHON_DOWNLOADS": "never"}


def _uv_alone(folder: Path, links: list[str], environment: dict[str, str]) -> float:
    """What the installer takes without us: it checks nothing and opens nothing."""
    binary, venv = uv.find_uv_bin(), str(folder / "bare")
    seconds = _seconds([binary, "venv", "--quiet", "--clear", "--python", sys.executable, venv], environment)
    wanted = [PLUGIN, "pydantic", "grpcio", "protobuf"]
    return seconds + _seconds([binary, "pip", "install", "--quiet", "--python", venv, *links, *wanted], environment)


def _multiply(lock: Path) -> None:
    """Makes fifty recorded plugins of one; listing reads nothing else of them."""
    values = json.loads(lock.read_text(encoding="utf-8"))
    [plugin] = values["plugins"]
    values["plugins"] = [
        plugin | {"name": f"{PLUGIN}-{n}", "folder": f"{PLUGIN}-{n}", "offers": {f"{PLUGIN}-{n}": "greeter.strategy:S"}}
        for n in range(INSTALLED)
    ]
    lock.write_text(json.dumps(values), encoding="utf-8")


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    """How long a command takes from its start to its end.

    Raises:
        RuntimeError: It failed.
    """
    began = perf_counter()
    with tempfile.TemporaryFile() as said:
        process = os.posix_spawn(
            command[0],
            command,
            environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, said.fileno(), 1), (os.POSIX_SPAWN_DUP2, said.fileno(), 2)],
        )
        _, status = os.waitpid(process, 0)
        seconds = perf_counter() - began
        if status:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed:\n{said.read().decode(errors='replace')}")
    return seconds
