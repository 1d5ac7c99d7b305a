"""Plugins that do not start cost only themselves, and each is shown with its own reason."""

import asyncio
from dataclasses import replace

from enfilade.candidate import Candidate
from enfilade.config import Config
from enfilade.host import Host
from enfilade.isolation.supervision.states import State
from enfilade_sdk.errors import EnfiladeError
from tests.support.faulty_guest import offering
from tests.support.leftovers import nothing_left
from tests.support.states import BOUND


def plugin(name: str, target: str, seconds: float = 20.0) -> Candidate:
    made = offering(target, seconds=seconds)
    return replace(made, plugin=name, offers=(replace(made.offers[0], name=name),))


PLUGINS = (
    plugin("good-a", "at_run:Works"),
    plugin("bad-import", "import_error:X"),
    plugin("hangs", "hangs_at_import:X", seconds=8),
    plugin("exits", "dies_at_import:X"),
    plugin("good-b", "at_run:Works"),
)


async def opened(host: Host, name: str) -> str:
    try:
        await host.open(name)
    except EnfiladeError as error:
        return error.message
    return ""


async def test_good_plugins_do_not_wait_for_bad_ones_and_each_bad_one_says_why() -> None:
    async with nothing_left(), Host(Config(), candidates=PLUGINS) as host:
        opening = {one.plugin: asyncio.ensure_future(opened(host, one.plugin)) for one in PLUGINS}
        for good in ("good-a", "good-b"):
            assert await asyncio.wait_for(opening[good], BOUND) == ""
        assert not opening["hangs"].done()
        faults = dict(zip(opening, await asyncio.gather(*opening.values()), strict=True))
        assert "RuntimeError: boom at import" in faults["bad-import"]
        assert "no handshake line within 8 s" in faults["hangs"]
        assert "exit code 7; its last lines:\n  no way on" in faults["exits"]
        stands = {status.plugin: status for status in host.catalog.statuses()}
        ready = {name for name, status in stands.items() if status.state is State.READY}
        assert ready == {"good-a", "good-b", "bad-import"}  # of the last the process is; of its strategies none fits
        for name in ("hangs", "exits"):
            assert stands[name].state in (State.BACKING_OFF, State.STOPPED)
            assert (stands[name].crashes, stands[name].last_crash) == (1, faults[name])
