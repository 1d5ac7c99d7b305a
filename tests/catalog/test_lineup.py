"""Plugins that come, go and are replaced under a catalog that is in use."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

import pytest

from enfilade.candidate import Candidate, Offer
from enfilade.catalog.catalog import Catalog
from enfilade.errors import LaunchError, StrategyNotFoundError
from enfilade.isolation.supervision.states import PluginStatus, State
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage


def plugin(version: str, *names: str) -> Candidate:
    offers = tuple(Offer(name, "m:C") for name in names or ("who",))
    return Candidate(plugin="p", version=version, origin=f"p {version}", offers=offers)


@dataclass(eq=False)
class Scripted:
    """A runner that comes to life when it is let, and notes what is done to it."""

    candidate: Candidate
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    fault: EnfiladeError | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    stops: int = 0

    async def describe(self) -> list[StrategyDescription]:
        self.begun.set()
        await self.ready.wait()
        if self.fault is not None:
            raise self.fault
        return [StrategyDescription(name=offer.name) for offer in self.candidate.offers]

    def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        raise NotImplementedError

    async def stop(self) -> None:
        self.stops += 1


class Shelf:
    """What is installed, as the tests put it there."""

    def __init__(self, *candidates: Candidate) -> None:
        self.number = 0
        self.there = list(candidates)
        self.fault: EnfiladeError | None = None

    def put(self, *candidates: Candidate) -> None:
        self.number += 1
        self.there = list(candidates)

    def revision(self) -> object:
        return self.number

    def candidates(self) -> list[Candidate]:
        if self.fault is not None:
            raise self.fault
        return list(self.there)

    def remark(self, name: str) -> str:
        return f"; as to {name}, look at the shelf"


class Room:
    """A catalog over a shelf, with the runners that it made by version; versions start at once unless they are held."""

    def __init__(self, *candidates: Candidate, held: tuple[str, ...] = ()) -> None:
        self.shelf = Shelf(*candidates)
        self.held = held
        self.made: dict[str, Scripted] = {}
        self.catalog = Catalog([], self.make, self.shelf)

    def make(self, candidate: Candidate) -> Scripted:
        runner = Scripted(candidate)
        if candidate.version not in self.held:
            runner.ready.set()
        self.made[candidate.version] = runner
        return runner

    async def version(self, name: str = "who") -> str:
        return (await self.catalog.admitted(name)).candidate.version


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - whatever it is, it takes a few turns of the loop
            await asyncio.sleep(0)


async def test_a_run_keeps_its_version_and_the_old_one_is_stopped_after_its_last() -> None:
    room = Room(plugin("1"))
    async with room.catalog.pinned("who") as first, room.catalog.pinned("who"):
        room.shelf.put(plugin("2"))
        assert await room.version() == "2"
        assert first.candidate.version == "1"
        assert room.made["1"].stops == 0
    await until(lambda: room.made["1"].stops == 1)
    assert room.made["2"].stops == 0
    await room.catalog.close()
    assert (room.made["1"].stops, room.made["2"].stops) == (1, 1)


async def test_an_old_version_that_nobody_uses_is_stopped_when_its_heir_is_there() -> None:
    room = Room(plugin("1"), held=("2",))
    await room.version()
    room.shelf.put(plugin("2"))
    asking = asyncio.ensure_future(room.version())
    await until(lambda: "2" in room.made)
    await room.made["2"].begun.wait()
    assert room.made["1"].stops == 0
    room.made["2"].ready.set()
    assert await asking == "2"
    await until(lambda: room.made["1"].stops == 1)


async def test_a_plugin_that_was_never_used_is_replaced_without_being_started() -> None:
    room = Room(plugin("1"))
    room.shelf.put(plugin("2"))
    assert await room.version() == "2"
    assert set(room.made) == {"2"}


async def test_an_heir_that_does_not_start_leaves_the_old_version_until_there_is_another() -> None:
    room = Room(plugin("1"), held=("2",))
    await room.version()
    room.shelf.put(plugin("2"))
    asking = [asyncio.ensure_future(room.version()) for _ in range(3)]
    await until(lambda: "2" in room.made)
    room.made["2"].fault = LaunchError("no luck")
    room.made["2"].ready.set()
    assert await asyncio.gather(*asking) == ["1"] * 3
    assert (room.made["1"].stops, room.made["2"].stops) == (0, 1)
    assert await room.version() == "1"  # it is not tried again and again
    room.shelf.put(plugin("3"))
    assert await room.version() == "3"


async def test_an_heir_that_is_replaced_while_it_starts_gives_way() -> None:
    room = Room(plugin("1"), held=("2",))
    await room.version()
    room.shelf.put(plugin("2"))
    asking = asyncio.ensure_future(room.version())
    await until(lambda: "2" in room.made)
    room.shelf.put(plugin("3"))
    second = asyncio.ensure_future(room.version())
    await asyncio.sleep(0)
    room.made["2"].ready.set()
    assert set(await asyncio.gather(asking, second)) == {"3"}
    await until(lambda: room.made["2"].stops == 1 and room.made["1"].stops == 1)


async def test_a_plugin_that_is_removed_while_its_heir_starts_is_gone() -> None:
    room = Room(plugin("1"), held=("2",))
    await room.version()
    room.shelf.put(plugin("2"))
    asking = asyncio.ensure_future(room.version())
    await until(lambda: "2" in room.made)
    room.shelf.put()
    with pytest.raises(StrategyNotFoundError, match="look at the shelf"):
        await room.version()
    room.made["2"].ready.set()
    with pytest.raises(StrategyNotFoundError):
        await asking
    await until(lambda: room.made["2"].stops == 1 and room.made["1"].stops == 1)


async def test_going_back_while_an_heir_starts_keeps_the_old_version() -> None:
    room = Room(plugin("1"), held=("2",))
    await room.version()
    room.shelf.put(plugin("2"))
    asking = asyncio.ensure_future(room.version())
    await until(lambda: "2" in room.made)
    room.shelf.put(plugin("1"))
    back = asyncio.ensure_future(room.version())
    await asyncio.sleep(0)
    room.made["2"].ready.set()
    assert set(await asyncio.gather(asking, back)) == {"1"}
    assert room.made["1"].stops == 0
    await until(lambda: room.made["2"].stops == 1)


async def test_runs_of_other_plugins_do_not_wait_for_a_replacement() -> None:
    other = Candidate(plugin="other", version="9", offers=(Offer("else", "m:C"),))
    room = Room(plugin("1"), other, held=("2",))
    await room.version()
    room.shelf.put(plugin("2"), other)
    asking = asyncio.ensure_future(room.version())
    await until(lambda: "2" in room.made)
    assert await asyncio.wait_for(room.version("else"), 5) == "9"
    assert not asking.done()
    room.made["2"].ready.set()
    assert await asking == "2"


async def test_who_asks_for_a_name_that_only_the_heir_has_waits_for_it() -> None:
    room = Room(plugin("1"))
    await room.version()
    room.shelf.put(plugin("2", "who", "whence"))
    assert await room.version("whence") == "2"


async def test_a_plugin_that_is_replaced_while_it_is_opened_is_opened_in_its_new_version() -> None:
    room = Room(plugin("1"), held=("1",))
    asking = asyncio.ensure_future(room.version())
    await until(lambda: "1" in room.made)
    room.shelf.put(plugin("2"))
    room.made["1"].fault = LaunchError("its environment is gone")
    room.made["1"].ready.set()
    assert await asking == "2"


async def test_a_change_that_cannot_be_used_leaves_all_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    room = Room(plugin("1"))
    await room.version()
    room.shelf.put(plugin("2"))
    room.shelf.fault = LaunchError("set to run where it cannot")
    assert await room.version() == "1"
    assert "plugins were changed and stay as they were here: set to run where it cannot" in caplog.text


async def test_closing_stops_the_old_the_new_and_what_is_just_starting() -> None:
    room = Room(plugin("1"), held=("2",))
    pinned = room.catalog.pinned("who")
    await pinned.__aenter__()
    room.shelf.put(plugin("2"))
    asking = asyncio.ensure_future(room.version())
    await until(lambda: "2" in room.made)
    await room.made["2"].begun.wait()
    await room.catalog.close()
    assert (room.made["1"].stops, room.made["2"].stops) == (1, 1)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await pinned.__aexit__(None, None, None)


async def test_a_new_name_is_known_before_it_is_asked_for() -> None:
    room = Room(plugin("1"))
    with pytest.raises(StrategyNotFoundError):
        room.catalog.check_name("whence")
    room.shelf.put(plugin("1"), Candidate(plugin="q", offers=(Offer("whence", "m:C"),)))
    await asyncio.to_thread(room.catalog.check_name, "whence")
    await asyncio.to_thread(room.catalog.check_name, "whence", "q")
    assert await room.catalog.names() == ["whence", "who"]


async def test_one_that_is_started_anew_takes_runs_until_the_new_process_is_there() -> None:
    room = Supervision()
    await room.version()
    restarting = asyncio.ensure_future(room.catalog.restart("P"))
    await until(lambda: len(room.all) == 2)
    async with room.catalog.pinned("who") as pinned:
        assert pinned.runner is room.all[0]  # nobody waits for what somebody else asked for
    room.all[1].ready.set()
    (done,) = await restarting
    assert (done.plugin, done.result) == ("p", "restarted")
    async with room.catalog.pinned("who") as pinned:
        assert pinned.runner is room.all[1]
    await until(lambda: room.all[0].stops == 1)
    assert room.all[0].left
    await room.catalog.close()


async def test_one_that_does_not_start_anew_goes_on_and_says_why() -> None:
    room = Supervision()
    await room.version()
    restarting = asyncio.ensure_future(room.catalog.restart("p"))
    await until(lambda: len(room.all) == 2)
    room.all[1].fault = LaunchError("no luck")
    room.all[1].ready.set()
    (done,) = await restarting
    assert (done.result, done.reason) == ("failed", "no luck")
    assert (room.all[0].stops, room.all[1].stops) == (0, 1)
    await room.catalog.close()


async def test_what_was_never_used_is_not_started_by_asking() -> None:
    room = Supervision()
    (done,) = await room.catalog.restart("p")
    assert (done.result, room.all) == ("not_running", [])
    assert await room.catalog.restart("q") == []


class Supervised(Scripted):
    """One whose processes somebody looks after."""

    left = False

    def status(self) -> PluginStatus:
        return PluginStatus("p", "1", State.READY, 0.0)

    def report_to(self, listener: object) -> None: ...

    def log_to(self, sink: object) -> None: ...

    def leave(self) -> None:
        self.left = True


class Supervision(Room):
    """A room of one plugin that stays; the first process of it starts at once, the others when they are let."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Supervised] = []
        self.catalog = Catalog([plugin("1")], self.make)

    def make(self, candidate: Candidate) -> Supervised:
        runner = Supervised(candidate)
        if not self.all:
            runner.ready.set()
        self.all.append(runner)
        return runner
