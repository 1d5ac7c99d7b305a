"""The `enfilade` command with a place for its records."""

import json
from dataclasses import dataclass
from typing import Any

from tests.support.enfilade_command import Enfilade, Finished

HARBOUR = ("--conversation", "harbour")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The command with a place for its records.

    Attributes:
        enfilade: The command.
        url: The place.
    """

    enfilade: Enfilade
    url: str

    async def run(self, *words: str | bytes) -> Finished:
        """Asks the demo model one question in a process of its own."""
        return await self.enfilade("run", "-t", "calculator", *words)

    async def runs(self, *words: str) -> list[dict[str, Any]]:
        """The list of runs."""
        done = await self.enfilade("runs", "list", "--json", *words)
        assert done.code == 0, done.err
        found: list[dict[str, Any]] = loaded(done)
        return found

    async def shown(self, name: str) -> dict[str, Any]:
        """One run in full."""
        done = await self.enfilade("runs", "show", name, "--json")
        assert done.code == 0, done.err
        found: dict[str, Any] = loaded(done)
        return found


def loaded(done: Finished) -> Any:
    """Standard output as one JSON document."""
    return json.loads(done.out)
