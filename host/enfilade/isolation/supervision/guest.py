"""Plugins as the host sees them: started on first use and again after a death, or found at an address."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Protocol, cast

from enfilade.errors import HostError, LaunchError
from enfilade.isolation.journal import Journal, Sink
from enfilade.isolation.launch_spec import LaunchSpec
from enfilade.isolation.process import StopTimes
from enfilade.isolation.sandbox.plan import Confined
from enfilade.isolation.supervision.alarm import Alarm
from enfilade.isolation.supervision.backoff import Backoff, CrashPolicy
from enfilade.isolation.supervision.crashes import Crashes
from enfilade.isolation.supervision.pool import Pool, Waiting, again
from enfilade.isolation.supervision.refusal import not_started, stopped
from enfilade.isolation.supervision.register import Register
from enfilade.isolation.supervision.states import Listener, PluginStatus, State
from enfilade.isolation.supervision.worker import Worker
from enfilade.isolation.watch import Watch
from enfilade.store.masking import secrets_of
from enfilade.supervision import Supervision
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage

REFILL_SECONDS = 0.05
"""How long after a run took a process from the reserve the next one is started."""

_log = logging.getLogger(__name__)


class Guest(Protocol):
    """A plugin that can be described and that runs its strategies."""

    async def describe(self) -> list[StrategyDescription]:
        """What it offers; starts it when it is not running."""
        ...

    def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs one of its strategies; starts it when it is not running."""
        ...

    async def stop(self) -> None:
        """Ends it; it may be started again."""
        ...


class StartedGuest:
    """A plugin whose processes this host starts when they are needed, and looks after.

    Args:
        spec: What to start.
        watch: The guardian's care.
        times: How long each step of stopping may take.
        supervision: The operator's choices.
        policy: What follows on crashes.
        version: The plugin's version, for those who hear of its states.
    """

    def __init__(
        self,
        spec: LaunchSpec,
        watch: Watch,
        times: StopTimes,
        supervision: Supervision | None = None,
        policy: CrashPolicy | None = None,
        version: str = "",
    ) -> None:
        self._care = care = supervision or Supervision()
        self._check = spec.check
        self._journal = Journal(spec.plugin, spec.environment)
        self._spec = replace(spec, check=None, journal=self._journal)
        self._watch = watch
        self._times = times
        self._pool: Pool[Worker] = Pool(spec.plugin, care.room, 1 if care.one_run else care.max_runs, care.queue)
        self._register = Register(spec.plugin, version)
        self._crashes = Crashes(spec.plugin, Backoff(policy or CrashPolicy(), care.crashes), self._register)
        self._leaving: set[Worker] = set()
        self._starts: set[asyncio.Task[None]] = set()
        self._keepers: set[asyncio.Task[None]] = set()
        self._askers: set[asyncio.Future[None]] = set()
        self._described: list[StrategyDescription] = []
        self._last_use = monotonic()
        self._in_use = False
        self._stops = 0
        self._again = Alarm(self._start_again)
        self._idle = Alarm(self._stop_idle)

    @property
    def pid(self) -> int | None:
        """The id of its process while it runs; of one of them where there are several."""
        return next((worker.pid for worker in self._pool.places if worker.usable), None)

    @property
    def confined(self) -> Confined:
        """How its process is confined while it runs: the layers that are in force, and those that are missing."""
        return next((worker.confined for worker in self._pool.places if worker.usable), Confined())

    def status(self) -> PluginStatus:
        """How it stands."""
        workers = [*self._pool.places, *self._leaving]
        return self._register.status(workers, self._pool.waiting, self._crashes.backoff)

    def report_to(self, listener: Listener) -> None:
        """Tells somebody of each change of state from now on."""
        self._register.listeners.append(listener)

    def log_to(self, sink: Sink) -> None:
        """Passes what the processes print on from now on, without secrets."""
        self._journal.sinks.append(sink)

    def leave(self) -> None:
        """Shows that another one has taken its place."""
        for worker in self._pool.places:
            self._register.moved(worker, State.DRAINING, "another process takes its place")

    async def describe(self) -> list[StrategyDescription]:
        """Starts it if need be; gives what it offers.

        Raises:
            LaunchError: It did not come to life; the text says how.
        """
        if self.pid is None:
            self._crashes.check()
            asker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._askers.add(asker)
            self._used()
            try:
                self._fill()
                await asker
            finally:
                self._askers.discard(asker)
        return self._described

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Starts it if need be; runs a strategy in it.

        Raises:
            BusyError: All places are taken, and so is the line before them.
            LaunchError: It did not come to life, or may not be started again in time.
            GuestDiedError: It died in the middle of the run; the run is not repeated, for its tools may have acted.
            EnfiladeError: The run failed.
        """
        worker = await self._place(invocation.deadline)
        try:
            self._journal.hide(self._secrets_of(invocation))
            messages = worker.connection.run(invocation, hatch)
            try:
                async for message in messages:
                    yield message
            finally:
                await messages.aclose()
        finally:
            self._give_back(worker)

    async def stop(self) -> None:
        """Stops it, step by step, and reaps it; starts that are under way are given up."""
        self._stops += 1
        self._in_use = False
        try:
            self._end_waiting(stopped(self._spec.plugin))
            self._again.cancel()
            self._idle.cancel()
            for start in self._starts:
                start.cancel()
            for worker in [*self._pool.places, *self._leaving]:
                worker.stop()
            while tasks := self._starts | self._keepers:
                await asyncio.wait(tasks)
        finally:
            self._stops -= 1
        self._fill()

    # A run's place

    def _secrets_of(self, invocation: Invocation) -> Sequence[str]:
        declared = next((d.parameters for d in self._described if d.name == invocation.strategy), ())
        return secrets_of(invocation.params, declared)

    async def _place(self, seconds: float | None) -> Worker:
        self._crashes.check()
        waiting = self._pool.ask()
        self._used()
        try:
            self._provide(waiting)
            if not waiting.given.done() and self.pid is None:
                self._crashes.check_in_time(seconds)
            worker = await waiting.given
        except BaseException:
            if (given := self._pool.give_up(waiting)) is not None:
                self._give_back(given)
            raise
        worker.served += 1
        return worker

    def _provide(self, waiting: Waiting[Worker]) -> None:
        if self._care.one_run:
            self._hand_out()
            if waiting.given.done():  # to start the next one takes some milliseconds, for which this run need not wait
                asyncio.get_running_loop().call_later(REFILL_SECONDS, self._fill)
                return
        self._fill()
        self._hand_out()

    def _give_back(self, worker: Worker) -> None:
        self._pool.give_back(worker)
        worker.idle_since = self._last_use = monotonic()
        if self._care.one_run and not worker.retired:
            self._retire(worker, "its run has ended")
        elif worker.retired and not worker.runs:
            worker.stop()
        self._fill()
        self._hand_out()
        self._watch_idleness()

    def _used(self) -> None:
        self._last_use, self._in_use = monotonic(), True

    def _hand_out(self) -> None:
        again_in = self._pool.hand_out(0 if self._crashes.left > 0 else len(self._starts))
        if again_in is not None:
            asyncio.get_running_loop().call_later(again_in, self._hand_out)

    # Starting

    def _fill(self) -> None:
        """Starts the processes that are missing, now or when the plugin may be started again."""
        missing = self._wanted() - len(self._pool.places) - len(self._starts)
        if missing <= 0 or self._stops or self._crashes.too_many:
            return
        if (left := self._crashes.left) > 0:
            self._again.set(left)
            return
        for _ in range(missing):
            start = asyncio.ensure_future(self._start())
            self._starts.add(start)
            start.add_done_callback(self._starts.discard)

    def _wanted(self) -> int:
        care, need = self._care, max(self._pool.need, 1 if self._askers else 0)
        if not care.one_run:
            return min(need, care.workers)
        unused = care.idle_stop > 0 and monotonic() - self._last_use >= care.idle_stop
        spare = care.reserve if self._in_use and not unused else 0
        return min(min(need, care.workers) + spare, max(care.workers + spare - len(self._leaving), 0))

    async def _start(self) -> None:
        worker = Worker(self._spec, self._watch, self._times, self, self._care.heartbeat)
        task = cast("asyncio.Task[None]", asyncio.current_task())
        try:
            await self._verify()
            self._register.plugin(State.STARTING)
            described, keeper = await worker.start()
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
            self._starts.discard(task)
            self._failed(self._start_fault(error))
            return
        self._starts.discard(task)
        self._keepers.add(keeper)
        keeper.add_done_callback(self._keepers.discard)
        self._begin(worker, described)

    def _start_fault(self, error: Exception) -> EnfiladeError:
        if isinstance(error, EnfiladeError):
            return error
        _log.error("starting plugin %r failed", self._spec.plugin, exc_info=error)
        return not_started(self._spec.plugin, error)

    async def _verify(self) -> None:
        if self._check is not None:
            await asyncio.to_thread(self._check)
            self._register.plugin(State.VERIFIED)

    def _begin(self, worker: Worker, described: list[StrategyDescription]) -> None:
        self._described = described
        self._pool.places.append(worker)
        self._register.moved(worker, State.READY)
        if self._stops:
            worker.stop()
            return
        for asker in self._askers:
            if not asker.done():
                asker.set_result(None)
        self._hand_out()
        self._fill()
        self._watch_idleness()

    def _failed(self, error: EnfiladeError) -> None:
        """Deals with a start that came to nothing."""
        if not self._pool.places and not self._starts:
            self._end_waiting(error)
        if isinstance(error, HostError) and not isinstance(error, LaunchError):
            self._register.plugin(State.STOPPED, error.message)  # it was refused: nothing was started
        else:
            self._crashed(error.message)
        self._hand_out()

    # Ending

    def moved(self, worker: Worker, state: State, reason: str) -> None:
        """A worker began or ceased to answer."""
        self._register.moved(worker, state, reason)
        self._hand_out()

    def lost(self, worker: Worker, crash: str | None) -> None:
        """A worker takes no run any more."""
        if worker in self._pool.places:
            self._pool.places.remove(worker)
        self._leaving.add(worker)
        worker.retired = True
        if crash is not None:
            self._crashed(crash, worker.uptime, worker)
        self._fill()

    def gone(self, worker: Worker) -> None:
        """Nothing of a worker is left."""
        self._leaving.discard(worker)
        if worker.state is not State.CRASHED:
            self._register.moved(worker, State.STOPPED, worker.connection.given_up)
        if not self._stops:
            self._hand_out()
            self._fill()

    def _crashed(self, how: str, uptime: float = 0.0, worker: Worker | None = None) -> None:
        self._crashes.add(how, uptime, worker)
        if self._crashes.too_many:
            self._end_waiting(self._crashes.refusal())
            for other in list(self._pool.places):
                self._retire(other, "the plugin is disabled")
        elif self._crashes.left > 0:
            self._again.set(self._crashes.left)

    def _retire(self, worker: Worker, reason: str) -> None:
        """Gives a worker no more runs; it is stopped after its last."""
        self._pool.places.remove(worker)
        self._leaving.add(worker)
        worker.retired = True
        self._register.moved(worker, State.DRAINING, reason)
        if not worker.runs:
            worker.stop()

    def _end_waiting(self, error: EnfiladeError) -> None:
        self._pool.refuse(error)
        for asker in self._askers:
            if not asker.done():
                asker.set_exception(again(error))

    # Clocks

    def _start_again(self) -> None:
        """The plugin may be started again."""
        if self._crashes.left > 0:  # it crashed again meanwhile
            self._again.set(self._crashes.left)
            return
        self._fill()
        if not (self._starts or self._pool.places or self._crashes.too_many):
            self._register.plugin(State.STOPPED, "the next run starts it again")

    def _watch_idleness(self) -> None:
        idle = [worker.idle_since for worker in self._pool.places if not worker.runs]
        if self._care.idle_stop > 0 and not self._idle.is_set and idle:
            since = self._last_use if self._care.one_run else min(idle)
            left = since + self._care.idle_stop - monotonic()
            self._idle.set(max(left, 0.01))

    def _stop_idle(self) -> None:
        horizon = monotonic() - self._care.idle_stop
        for worker in list(self._pool.places):
            idle_since = self._last_use if self._care.one_run else worker.idle_since
            if not worker.runs and idle_since <= horizon:
                self._retire(worker, f"no run for {self._care.idle_stop:g} s")
        self._watch_idleness()
