"""One process of a plugin: started once, looked after, ended once."""

import asyncio
import time
from time import monotonic
from typing import Protocol

from enfilade.isolation.connection import Connection
from enfilade.isolation.launch_spec import LaunchSpec
from enfilade.isolation.process import AT_ONCE, GuestProcess, StopTimes, launch
from enfilade.isolation.sandbox.plan import Confined
from enfilade.isolation.supervision.states import ProcessStatus, State
from enfilade.isolation.transport.reach import transport_to
from enfilade.isolation.watch import Watch
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import NotAdmittedError


class Employer(Protocol):
    """Whom a worker tells what becomes of it."""

    def moved(self, worker: "Worker", state: State, reason: str) -> None:
        """It changed its state."""
        ...

    def lost(self, worker: "Worker", crash: str | None) -> None:
        """It takes no run any more.

        Args:
            worker: Which.
            crash: How it ended when nobody had asked it to; None when somebody had.
        """
        ...

    def gone(self, worker: "Worker") -> None:
        """Nothing of it is left."""
        ...


class Worker:
    """Starts one process and sees its end, for whatever reason it ends, and cleans up after it.

    Args:
        spec: What to start.
        watch: The guardian's care.
        times: How long each step of stopping may take.
        employer: Whom to tell.
        heartbeat: Seconds between two questions whether it answers; 0 asks never.

    Attributes:
        state: Where it stands.
        runs: Runs on it.
        served: Runs that it was given so far.
        retired: Whether it takes no new run and is stopped after its last.
    """

    def __init__(
        self, spec: LaunchSpec, watch: Watch, times: StopTimes, employer: Employer, heartbeat: float = 0.0
    ) -> None:
        self.state = State.STARTING
        self.runs = 0
        self.served = 0
        self.retired = False
        self.idle_since = monotonic()
        self._spec = spec
        self._watch = watch
        self._times = times
        self._employer = employer
        self._heartbeat = heartbeat
        self._asked_to_stop = asyncio.Event()
        self._connection: Connection | None = None
        self._process: GuestProcess | None = None
        self._ready_since = 0.0
        self._started = self._since = time.time()

    @property
    def pid(self) -> int | None:
        """Its process id; None before there is one."""
        return self._process.pid if self._process else None

    @property
    def confined(self) -> Confined:
        """How its process is confined; not at all before there is one."""
        return self._process.confined if self._process else Confined()

    @property
    def connection(self) -> Connection:
        """Its channel, once it was started."""
        assert self._connection is not None, "it was not started"
        return self._connection

    @property
    def usable(self) -> bool:
        """Whether a new run may be put on it."""
        return not self.retired and self._connection is not None and self._connection.usable

    @property
    def slow(self) -> bool:
        """Whether it did not answer when it was last asked."""
        return self.state is State.UNRESPONSIVE

    @property
    def uptime(self) -> float:
        """Seconds since it was ready; 0 for one that never was."""
        return monotonic() - self._ready_since if self._ready_since else 0.0

    def status(self) -> ProcessStatus:
        """How it stands."""
        return ProcessStatus(self.pid or 0, self.state, self.runs, self.served, self._started, self._since)

    def become(self, state: State) -> State:
        """Changes the state; gives the one before."""
        before, self.state, self._since = self.state, state, time.time()
        return before

    async def start(self) -> tuple[list[StrategyDescription], "asyncio.Task[None]"]:
        """Starts it; gives what it offers, and the task that sees its end.

        Raises:
            EnfiladeError: It did not come to life; the text says how. Nothing of it is left.
        """
        process = await launch(self._spec, self._watch)
        connection: Connection | None = None
        try:
            connection = Connection(self._spec.plugin, transport_to(process), process)
            described = await connection.describe(self._spec.start_timeout)
            if not described:
                raise NotAdmittedError(f"plugin {self._spec.plugin!r} offers no strategy")
        except BaseException:
            if connection is not None:
                await connection.close()
            process.let_go()
            await process.stop(self._watch, AT_ONCE, asked=False)
            raise
        self._process, self._connection = process, connection
        self._ready_since = self.idle_since = monotonic()
        return described, asyncio.ensure_future(self._keep(connection, process))

    def stop(self) -> None:
        """Lets it end, step by step."""
        self.retired = True
        self._asked_to_stop.set()

    async def _keep(self, connection: Connection, process: GuestProcess) -> None:
        """Waits until the process has ended, was given up, or is to be stopped; then cleans up after it."""
        beat = asyncio.ensure_future(self._beat(connection))
        waits = {
            asyncio.ensure_future(process.wait()),
            asyncio.ensure_future(connection.broken.wait()),
            asyncio.ensure_future(self._asked_to_stop.wait()),
        }
        asked = died = False
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            asked = self._asked_to_stop.is_set() and connection.usable
            died = process.ended and not self._asked_to_stop.is_set()
        finally:
            for task in (*waits, beat):
                task.cancel()
            self._employer.lost(self, self._crash(connection, process, died=died))
            await self._end(connection, process, asked=asked, died=died)
            self._employer.gone(self)

    def _crash(self, connection: Connection, process: GuestProcess, *, died: bool) -> str | None:
        if connection.broke_off:
            return connection.given_up
        return process.last_words() if died and not connection.given_up else None

    async def _end(self, connection: Connection, process: GuestProcess, *, asked: bool, died: bool) -> None:
        shutting_down = asyncio.ensure_future(connection.shut_down()) if asked else None
        try:
            await process.stop(self._watch, self._times if asked else AT_ONCE, asked=asked)
        finally:
            if shutting_down is not None:
                shutting_down.cancel()
                await asyncio.wait({shutting_down})
            if died:
                await connection.last_reads()
            await connection.close()

    async def _beat(self, connection: Connection) -> None:
        """Asks again and again whether it answers. What does not is only shown: its runs have their own deadlines."""
        while self._heartbeat > 0:
            await asyncio.sleep(self._heartbeat)
            alive = await connection.alive(self._heartbeat)
            if alive and self.state is State.UNRESPONSIVE:
                self._employer.moved(self, State.READY, "it answers again")
            elif not alive and self.state is State.READY:
                self._employer.moved(self, State.UNRESPONSIVE, f"no answer within {self._heartbeat:g} s")
