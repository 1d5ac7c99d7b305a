"""Guests of the plugins that do one thing wrong."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from enfilade.candidate import Candidate, Offer
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.supervision.guest import StartedGuest
from enfilade.sandboxing import Sandboxing

ROOT = Path(__file__).parents[2]
OFFERS = Path(__file__).parent / "faulty_plugin" / "offers"
NO_FORK_HANDLERS: dict[str, Any] = {"GRPC_ENABLE_FORK_SUPPORT": "false"}
"""With grpc's own handlers a child forked by a plugin sometimes falls over, and is not there to be looked after."""


def by_hand(mode: str, *, seconds: float = 20.0, sandboxing: Sandboxing | None = None, **environment: str) -> Candidate:
    """A plugin that speaks the handshake and the wire by hand, started by a command."""
    return Candidate(
        plugin="faulty",
        command=(sys.executable, "-m", "tests.support.faulty_plugin", mode),
        environment={"PYTHONPATH": str(ROOT), **environment},
        start_timeout=seconds,
        sandboxing=sandboxing,
    )


def offering(
    *targets: str, seconds: float = 20.0, sandboxing: Sandboxing | None = None, **environment: str
) -> Candidate:
    """A plugin that the SDK serves; `targets` are `module:Class` of the offers folder."""
    offers = tuple(Offer(target.partition(":")[2], target) for target in targets)
    return Candidate(
        plugin="harm",
        offers=offers,
        paths=(str(OFFERS),),
        environment=environment,
        start_timeout=seconds,
        sandboxing=sandboxing,
    )


def liar() -> Candidate:
    """A plugin that the SDK serves over the plain link, and that says on it what no plugin should."""
    return Candidate(
        plugin="faulty", offers=(Offer("Liar", "liar:Liar"),), paths=(str(OFFERS), str(ROOT)), start_timeout=20
    )


@asynccontextmanager
async def started(launcher: Launcher, candidate: Candidate) -> AsyncIterator[StartedGuest]:
    """A guest that is stopped at the end."""
    guest = launcher.guest(candidate)
    assert isinstance(guest, StartedGuest)
    try:
        yield guest
    finally:
        await guest.stop()
