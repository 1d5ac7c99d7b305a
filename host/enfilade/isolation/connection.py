"""An open channel to a plugin, whether this host started it or found it at an address."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from enfilade.errors import LaunchError
from enfilade.isolation.described import descriptions_of
from enfilade.isolation.process import GuestProcess
from enfilade.isolation.run import GuestStream
from enfilade.isolation.transport.stream import Transport
from enfilade_sdk import codec
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import EnfiladeError, GuestDiedError, ProtocolError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.serving.link import StreamBrokenError

_log = logging.getLogger(__name__)

DEATH_SECONDS = 1.0
"""Seconds in which the process behind a broken stream is seen to end, if it does."""

SHUTDOWN_SECONDS = 5.0
"""Seconds for the answer to a shutdown call; who makes it does not wait so long for the process to end."""

LAST_READS_SECONDS = 0.5
"""Seconds that runs have to read what a process had written before it died."""

TAIL_SECONDS = 3.0
"""Seconds that runs have to let go when the connection closes; their streams are broken by then."""


class Connection:
    """Describes a plugin and runs its strategies over one channel.

    Attributes:
        plugin: Its name, for errors.
        process: The process behind it; None for one at an address.
        broken: Set when the process behind it is to be replaced, or the connection to an address is.
        broke_off: Whether that is because it broke off itself, while its process lives.
    """

    def __init__(self, plugin: str, transport: Transport, process: GuestProcess | None = None, at: str = "") -> None:
        """Over a transport that is not connected yet.

        Args:
            plugin: The plugin's name, for errors.
            transport: What carries its runs.
            process: The process behind it; None for one at an address.
            at: The address, for errors.
        """
        self.plugin = plugin
        self.process = process
        self.broken = asyncio.Event()
        self.broke_off = False
        self._transport = transport
        self._at = at
        self._given_up = ""
        self._tails: set[asyncio.Task[None]] = set()
        self._runs = 0
        self._no_run = asyncio.Event()
        self._closed = False
        transport.when_lost(self._lost)

    @property
    def usable(self) -> bool:
        """Whether a new run may be put on it."""
        return not self.broken.is_set() and (self.process is None or not self.process.ended)

    @property
    def given_up(self) -> str:
        """Why it is to be replaced; empty while it is not."""
        return self._given_up

    async def describe(self, seconds: float) -> list[StrategyDescription]:
        """Asks what the plugin offers.

        Raises:
            LaunchError: It cannot be reached, does not answer in time, or dies over it.
            ProtocolError: Its answer cannot be read.
        """
        try:
            return await self.asked(seconds)
        except TimeoutError:
            raise await self._undescribed(f"no answer within {seconds:g} s") from None
        except StreamBrokenError as broken:
            raise await self._undescribed(broken.reason, lost=broken.lost) from None

    async def asked(self, seconds: float) -> list[StrategyDescription]:
        """What the plugin says it offers.

        Raises:
            TimeoutError: It does not answer in time.
            StreamBrokenError: It cannot be reached, or dies over it.
            ProtocolError: Its answer cannot be read.
        """
        response = await self._transport.describe(seconds)
        if response.protocol != codec.PROTOCOL:
            raise ProtocolError(
                f"plugin {self.plugin!r} speaks protocol {response.protocol}, this host speaks {codec.PROTOCOL}; "
                "update the older of the two"
            )
        return descriptions_of(response)

    async def alive(self, seconds: float) -> bool:
        """Whether the plugin's own code answers in time; a busy plugin may not, and is not dead for that."""
        return await self._transport.alive(seconds)

    async def _undescribed(self, reason: str, *, lost: bool = False) -> LaunchError:
        return LaunchError(f"plugin {self.plugin!r} {await self._why_undescribed(reason, lost=lost)}")

    async def _why_undescribed(self, reason: str, *, lost: bool) -> str:
        if self.process is None:
            return f"at {self._at} cannot be asked what it offers: {reason}"
        if lost and await self._ended(self.process):
            return f"died before it said what it offers: {self.process.last_words()}"
        return f"did not say what it offers: {reason}{self.process.output.text()}"

    async def _ended(self, process: GuestProcess) -> bool:
        """Whether the process behind a broken connection has ended, which may be seen a little later."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DEATH_SECONDS):
                await process.wait()
        return process.exit_code is not None

    async def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs a strategy on a stream of its own."""
        messages = GuestStream(self._transport.open_run(), hatch, self).messages(invocation)
        self._runs += 1
        self._no_run.clear()
        try:
            async for message in messages:
                yield message
        except EnfiladeError as error:
            raise self._hinted(error) from error.__cause__
        finally:
            self._runs -= 1
            if not self._runs:
                self._no_run.set()
            await messages.aclose()

    async def broken_within(self, seconds: float) -> None:
        """Waits until the connection breaks, for so many seconds at the most; 0 is without end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds or None):
                await self.broken.wait()

    async def last_reads(self) -> None:
        """Lets the runs of a process that died read what it had written; to close at once would lose that."""
        if self._runs:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_READS_SECONDS):
                    await self._no_run.wait()

    async def shut_down(self) -> None:
        """Asks a started plugin to end (go-plugin's controller). Calls of runs are still answered."""
        self._given_up = self._given_up or "the host stops it"
        await self._transport.shut_down(SHUTDOWN_SECONDS)

    async def close(self) -> None:
        """Closes the channel; runs that are left end with an error."""
        self._closed = True
        await self._transport.close()
        if self.process is not None:
            self.process.let_go()
        if self._tails:
            await asyncio.wait(self._tails, timeout=TAIL_SECONDS)

    async def close_after_runs(self) -> None:
        """Closes the channel when its last run has ended."""
        if self._runs:
            await self._no_run.wait()
        await self.close()

    async def finish(self, tail: Coroutine[Any, Any, None]) -> None:
        """Sees the end of a run through, even when the task that waits for it is cancelled."""
        task = asyncio.ensure_future(tail)
        self._tails.add(task)
        task.add_done_callback(self._tails.discard)
        await asyncio.shield(task)

    def _hinted(self, error: EnfiladeError) -> EnfiladeError:
        """The error itself; with a word about the sandbox where that may be the cause."""
        hint = self.process.confined.hint(error.message, self.plugin) if self.process is not None else ""
        if hint and hint not in error.message:
            error.message += hint
            error.args = (error.message,)
        return error

    async def explain(self, broken: StreamBrokenError) -> EnfiladeError:
        """The error for a stream that broke off: how the process ended, or what its server did."""
        if broken.rule:
            if broken.lost:
                self._replace(f"it broke the rule '{broken.rule}'")
            return ProtocolError(f"rule '{broken.rule}' was broken: {broken.reason}")
        if self.process is None:
            if broken.lost:
                self._given_up = self._given_up or broken.reason
                self.broken.set()
            return GuestDiedError(f"the connection to plugin {self.plugin!r} at {self._at} broke: {broken.reason}")
        ended = await self._ended(self.process)
        if self._given_up:
            return GuestDiedError(f"plugin {self.plugin!r} was stopped under this run: {self._given_up}")
        if ended:
            return self._death(self.process)
        if broken.lost:
            self.broke_off = True
            self._replace(f"its connection broke ({broken.reason})")
        return ProtocolError(f"plugin {self.plugin!r} broke the stream off while its process lives: {broken.reason}")

    def _lost(self, broken: StreamBrokenError) -> None:
        if self.process is not None and not self._closed:
            task = asyncio.ensure_future(self._replace_if_alive(self.process, broken))
            self._tails.add(task)
            task.add_done_callback(self._tails.discard)

    async def _replace_if_alive(self, process: GuestProcess, broken: StreamBrokenError) -> None:
        """A process without a connection is of no use; one that is about to end will be seen to end."""
        if not await self._ended(process) and not self._closed:
            self._replace(f"its connection broke ({broken.rule or broken.reason})")

    def _death(self, process: GuestProcess) -> EnfiladeError:
        return GuestDiedError(
            f"plugin {self.plugin!r} died in the middle of the run: {process.last_words()}",
            details={"exit_code": process.exit_code},
        )

    def overdue(self, reason: str) -> None:
        """Gives a plugin up that does not end a cancelled run; the process of one that was started is stopped."""
        if self.process is None:
            _log.warning("plugin %r at %s: %s", self.plugin, self._at, reason)
        else:
            self._replace(reason)

    def _replace(self, reason: str) -> None:
        if not self.broken.is_set():
            _log.warning("plugin %r is stopped: %s; the next run starts it again", self.plugin, reason)
            self._given_up = f"{reason}, in the same process"
            self.broken.set()
