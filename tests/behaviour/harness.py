"""One agent, a scripted server, recorded tools: what the tests of whole runs share."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from enfilade.agent import AgentConfig
from enfilade.candidate import Isolation
from enfilade.config import Config
from enfilade.host import Host
from enfilade.models.settings import ModelSettings
from enfilade.outcome import Outcome
from enfilade.tools.entry import ToolEntry
from tests.support.model_server import ModelServer
from tests.support.model_turns import Turn


@dataclass(slots=True)
class Played:
    """What came of a run: its outcome, the requests the model got, the calls the tools got."""

    outcome: Outcome
    requests: list[dict[str, Any]]
    calls: list[tuple[str, dict[str, Any]]]


@dataclass(slots=True)
class Tools:
    """Tools of a harbour office that write down how they were called."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def entries(self) -> tuple[ToolEntry, ...]:
        """All of them."""
        given = (self.moorings, self.depth, self.reserve, self.siren, self.pause)
        return tuple(ToolEntry(tool=tool) for tool in given)

    def moorings(self, pier: str) -> str:
        """Counts free moorings.

        Args:
            pier: The pier's letter.
        """
        self.calls.append(("moorings", {"pier": pier}))
        return f"pier {pier}: 3 free"

    def depth(self, pier: str, tide: str = "low") -> str:
        """Tells the water's depth."""
        self.calls.append(("depth", {"pier": pier, "tide": tide}))
        return "2.4 m"

    def reserve(self, boats: list[str], nights: int, notes: dict[str, Any] | None = None, remark: str = "") -> str:
        """Reserves berths."""
        given = {"boats": boats, "nights": nights, "notes": notes, "remark": remark}
        self.calls.append(("reserve", given))
        return "reserved"

    def siren(self) -> str:
        """Sounds the siren."""
        self.calls.append(("siren", {}))
        raise ConnectionError("the siren is out of order")

    async def pause(self) -> str:
        """Waits until it is told to stop."""
        self.calls.append(("pause", {}))
        await asyncio.Event().wait()
        return "never"


async def play(
    turns: Sequence[Turn],
    isolation: Isolation,
    *,
    strategy: str = "function-calling",
    question: str = "Is there a free mooring?",
    max_iteration: int = 5,
    parameters: dict[str, Any] | None = None,
    tools: tuple[ToolEntry, ...] | None = None,
    model: dict[str, Any] | None = None,
    **server: Any,
) -> Played:
    """Runs an agent of one strategy against the turns, to its end."""
    recorded = Tools()
    async with ModelServer(turns, **server) as scripted:
        settings = ModelSettings(name="scripted", base_url=scripted.base_url, max_retries=0, **(model or {}))
        config = Config(models={"scripted": settings}, default_model="scripted", isolation=isolation)
        agent = AgentConfig(
            strategy=strategy,
            max_iteration=max_iteration,
            tools=recorded.entries() if tools is None else tools,
            parameters=parameters or {},
        )
        async with Host(config) as host:
            outcome = await host.ask(agent, question, timeout=20)
        return Played(outcome, scripted.bodies, recorded.calls)
