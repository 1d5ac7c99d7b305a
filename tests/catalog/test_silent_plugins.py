"""Plugins of which only they themselves can say what they offer: programs, and plugins at an address."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest

from enfilade.agent import AgentConfig
from enfilade.candidate import Candidate, Offer
from enfilade.catalog.catalog import Catalog
from enfilade.config import Config, PluginSettings
from enfilade.errors import LaunchError, NameConflictError, StrategyNotFoundError
from enfilade.host import Host
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage

SECONDS = 20
BRIEFLY = 0.01


class Scripted:
    """Says what it offers once it is let; the name tells what: `a,b` those, `!reason` a failure."""

    def __init__(self, candidate: Candidate) -> None:
        self.says = candidate.plugin
        self.let = asyncio.Event()
        self.begun = asyncio.Event()
        self.asked = 0

    async def describe(self) -> list[StrategyDescription]:
        self.asked += 1
        self.begun.set()
        await self.let.wait()
        if self.says.startswith("!"):
            raise LaunchError(self.says[1:])
        return [StrategyDescription(name=name, parameters=()) for name in self.says.split(",")]

    def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        raise NotImplementedError

    async def stop(self) -> None:
        pass


class Room:
    """A catalog of silent plugins, and one that is known to offer `known`."""

    def __init__(self, *silent: str, patience: float = BRIEFLY) -> None:
        known = Candidate(plugin="known", origin="known", offers=(Offer("known", "m:C"),))
        self.made: dict[str, Scripted] = {}
        candidates = [*(Candidate(plugin=name, origin=f"origin {name}") for name in silent), known]
        self.catalog = Catalog(candidates, self._make, patience=patience)
        for candidate in candidates:
            self.catalog.runner(candidate)
        self.let("known")

    def _make(self, candidate: Candidate) -> Scripted:
        return self.made.setdefault(candidate.plugin, Scripted(candidate))

    def let(self, *names: str) -> None:
        for name in names:
            self.made[name].let.set()


async def _plugin_of(catalog: Catalog, name: str) -> str:
    return (await asyncio.wait_for(catalog.admitted(name), SECONDS)).candidate.plugin


@pytest.fixture
async def all_asked() -> AsyncIterator[Room]:
    room = Room("!far is down", "a,b", "!the certificate is wrong")
    room.let("!far is down", "a,b", "!the certificate is wrong")
    yield room
    await room.catalog.close()


async def test_a_name_that_nobody_offers_is_refused_with_why_some_could_not_be_asked(all_asked: Room) -> None:
    with pytest.raises(StrategyNotFoundError) as caught:
        await all_asked.catalog.admitted("kown")
    assert caught.value.message == (
        "there is no strategy 'kown'; did you mean 'known'? there are: a, b, known\n"
        "- far is down\n"
        "- the certificate is wrong"
    )


async def test_those_that_answer_serve_while_others_cannot_be_asked(all_asked: Room) -> None:
    assert await _plugin_of(all_asked.catalog, "b") == "a,b"
    assert await _plugin_of(all_asked.catalog, "known") == "known"
    assert await all_asked.catalog.names() == ["a", "b", "known"]


async def test_an_answer_is_kept_and_a_failure_is_not(all_asked: Room) -> None:
    for _ in range(3):
        await all_asked.catalog.admitted("known")
    assert (all_asked.made["a,b"].asked, all_asked.made["!far is down"].asked) == (1, 3)


async def test_all_are_asked_at_once() -> None:
    room = Room("!slow", "a")
    asking = asyncio.ensure_future(room.catalog.admitted("a"))
    async with asyncio.timeout(SECONDS):
        await room.made["!slow"].begun.wait()
        await room.made["a"].begun.wait()
    room.let("!slow", "a")
    assert (await asyncio.wait_for(asking, SECONDS)).candidate.plugin == "a"
    await room.catalog.close()


async def test_one_that_hangs_holds_up_no_strategy_of_others(caplog: pytest.LogCaptureFixture) -> None:
    room = Room("hangs")
    for _ in range(3):
        assert await _plugin_of(room.catalog, "known") == "known"
    assert caplog.messages == [
        "plugin 'hangs' has not said within 0.01 s what it offers; strategies that others offer do not wait for it"
    ]
    assert room.made["hangs"].asked == 1
    room.let("hangs")
    assert await _plugin_of(room.catalog, "hangs") == "hangs"
    await room.catalog.close()


async def test_closing_does_not_wait_for_one_that_hangs() -> None:
    room = Room("hangs")
    asking = asyncio.ensure_future(room.catalog.admitted("x"))
    async with asyncio.timeout(SECONDS):
        await room.made["hangs"].begun.wait()
        await room.catalog.close()
    with pytest.raises(StrategyNotFoundError, match="plugin 'hangs' is being stopped"):
        await asyncio.wait_for(asking, SECONDS)


async def test_a_name_that_a_plugin_turns_out_to_offer_too_is_refused() -> None:
    room = Room("a,known", patience=SECONDS)
    room.let("a,known")
    with pytest.raises(NameConflictError, match="offered by origin a,known and known"):
        await room.catalog.admitted("known")
    await room.catalog.close()


async def test_a_configured_address_that_cannot_be_reached_is_told_with_the_reason(tmp_path: Path) -> None:
    socket, file = f"unix:{tmp_path}/none.sock", tmp_path / "none.pem"
    plugins = {
        "near": PluginSettings(address=socket),
        "far": PluginSettings(address="grpcs://127.0.0.1:1", ca=file, certificate=file, key=file),
    }
    async with Host(Config(plugins=plugins)) as host:
        outcome = await host.ask(AgentConfig(strategy="polite"), "?")
    assert outcome.error is not None
    assert f"- plugin 'near' at {socket} cannot be asked what it offers: " in outcome.error.message
    assert f"- plugin 'far': ca: cannot read {file}: No such file or directory" in outcome.error.message
