"""Somebody who installs plugins with the real command, and looks at what is on the disk."""

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.environments.wheels import write_plugin
from tests.support.enfilade_command import Enfilade, Finished, Running

OFFLINE = "--no-index"


@dataclass(slots=True)
class Operator:
    """The command with a root folder of its own.

    Attributes:
        command: The command.
        root: The folder of all installed plugins.
        wheels: Where plugins' wheels are written.
        parts: Wheels of what the SDK needs.
    """

    command: Enfilade
    root: Path
    wheels: Path
    parts: Path

    @classmethod
    def in_folder(cls, folder: Path, runtime: Path, parts: Path, tool_cache: Path) -> "Operator":
        """One whose home, root and working folder are below a folder."""
        command = Enfilade(folder / "home", runtime)
        command.folder.mkdir()
        root, wheels = folder / "root", folder / "wheels"
        wheels.mkdir()
        command.environment |= {"ENFILADE_PLUGINS_DIR": str(root), "UV_CACHE_DIR": str(tool_cache)}
        return cls(command, root, wheels, parts)

    def write(self, name: str, version: str = "1.0.0", **more: Any) -> Path:
        """Writes the wheel of a plugin whose strategy has its own name; see `write_plugin`."""
        return write_plugin(self.wheels, name, version, **more)

    def installing(self, verb: str, what: str | Path) -> list[str]:
        """The words that install offline."""
        links = ["--find-links", str(self.wheels), "--find-links", str(self.parts)]
        return ["plugins", verb, str(what), OFFLINE, *links]

    async def add(self, what: str | Path, *more: str) -> Finished:
        """`plugins add`."""
        return await self.command(*self.installing("add", what), *more)

    async def update(self, what: str | Path, *more: str) -> Finished:
        """`plugins update`."""
        return await self.command(*self.installing("update", what), *more)

    async def plugins(self, *words: str) -> Finished:
        """`plugins ...`."""
        return await self.command("plugins", *words)

    async def ask(self, strategy: str, question: str = "Who are you?") -> Finished:
        """`run` with a strategy."""
        return await self.command("run", question, "-s", strategy)

    def asking(self, strategy: str) -> AbstractAsyncContextManager[Running]:
        """`run` with a strategy, under way."""
        return self.command.running("run", "Who are you?", "-s", strategy)

    async def listed(self) -> dict[str, dict[str, Any]]:
        """The rows of `plugins list` that have environments of their own, by strategy."""
        rows = json.loads((await self.plugins("list", "--json")).out)
        return {row["name"]: row for row in rows if str(self.root) in row["origin"]}

    def environments(self) -> set[str]:
        """The folders of environments there are."""
        folder = self.root / "environments"
        return {path.name for path in folder.iterdir()} if folder.is_dir() else set()

    def recorded(self) -> set[str]:
        """The folders that plugins.lock names."""
        lock = self.root / "plugins.lock"
        return {plugin["folder"] for plugin in json.loads(lock.read_text())["plugins"]} if lock.is_file() else set()

    def staging(self) -> set[str]:
        """The folders that it does not name."""
        return self.environments() - self.recorded()


def version_of(finished: Finished) -> str:
    """What a strategy answered whose answer is its version."""
    assert finished.code == 0, finished.err
    return finished.text.strip()
