"""The transport of servers on this machine: a line on stdin or stdout is a message.

A server is to print nothing but messages to stdout. Many print banners and logs there all the same; such lines are
logged with the server's name, and the messages between them are read.
"""

import json
import logging
from collections.abc import Collection

from enfilade.tools.fault import masked
from enfilade.tools.json_value import compact_json
from enfilade.tools.mcp.failure import McpError
from enfilade.tools.mcp.lines import LINE_LIMIT, Allowance, Lines, OverlongLineError
from enfilade.tools.mcp.message import JsonObject, notification
from enfilade.tools.mcp.process import Processes, ProcessSpec, ServerProcess
from enfilade.tools.mcp.transport import Inbox

WARNED_LINES = 20
"""Stray lines that are logged as warnings; of more there is one further warning."""

_MOST_SHOWN = 200
_UNTIL_CLOSED = 60.0

_log = logging.getLogger(__name__)


class StdioTransport:
    """Starts a server and speaks with it through its pipes.

    Args:
        server: The server's name, for texts.
        spec: What to start.
        processes: Starts it.
    """

    def __init__(self, server: str, spec: ProcessSpec, processes: Processes) -> None:
        self._server = server
        self._spec = spec
        self._processes = processes
        self._process: ServerProcess | None = None
        self._inbox: Inbox | None = None
        self._lines = Lines()
        self._allowance = Allowance()
        self._strays = 0

    async def open(self, inbox: Inbox) -> None:
        """Starts the server.

        Raises:
            McpError: It cannot be started.
        """
        self._inbox = inbox
        try:
            self._process = await self._processes.start(self._spec, self._take, self._ended)
        except (OSError, ValueError) as error:
            raise McpError(f"the MCP server {self._server!r} could not be started: {self._reason(error)}") from None

    async def ready(self) -> None:
        """Waits until the server has read most of what it was sent."""
        if self._process is not None:
            await self._process.writable()

    def send(self, message: JsonObject) -> None:
        """Writes a message; an answer to a server that asks and does not read is dropped."""
        is_reply = "method" not in message
        if self._process is not None and not (is_reply and self._process.congested):
            self._process.write(compact_json(message).encode() + b"\n")

    def cancel(self, number: int, reason: str) -> None:
        """Tells the server that nobody waits for a request any more."""
        self.send(notification("notifications/cancelled", {"requestId": number, "reason": reason}))

    async def agreed(self, version: str, *, stateless: bool) -> None:
        """Nothing depends on the version here."""

    def listed(self, tools: list[JsonObject]) -> None:
        """Nothing depends on the tools here."""

    def last_words(self) -> str:
        """Whether it runs, and what it printed last."""
        return self._process.last_words() if self._process is not None else ""

    async def close(self) -> None:
        """Ends the server with everything it has started."""
        process, self._process = self._process, None
        if process is not None:
            await process.stop()

    def _take(self, data: bytes) -> float:
        try:
            for line in self._lines.feed(data):
                self._line(line)
        except OverlongLineError:
            self._lose(f"sent a line of more than {LINE_LIMIT:,} bytes")
            return _UNTIL_CLOSED
        return self._allowance.pause()

    def _ended(self) -> None:
        if line := self._lines.rest():
            self._line(line)
        self._lose(f"broke off: {self._process.last_words()}" if self._process is not None else "was stopped")

    def _lose(self, how: str) -> None:
        if self._inbox is not None:
            self._inbox.lose(McpError(f"the MCP server {self._server!r} {how}"))

    def _line(self, raw: bytes) -> None:
        line = raw.strip()
        if not line or self._inbox is None:
            return
        taken = self._inbox.receive(_json(line))
        if taken is None:
            self._warn(line)
        if not taken:
            self._allowance.spend(len(line))

    def _warn(self, line: bytes) -> None:
        self._strays += 1
        if self._process is not None:
            self._process.note(line)
        if self._strays <= WARNED_LINES:
            shown = _shown(line, self._spec.secrets)
            _log.warning("the MCP server %r printed to its stdout, where only messages belong: %s", self._server, shown)
        elif self._strays == WARNED_LINES + 1:
            _log.warning("the MCP server %r prints more such lines to its stdout", self._server)

    def _reason(self, error: OSError | ValueError) -> str:
        if not self._spec.folder.is_dir():
            return f"there is no folder {str(self._spec.folder)!r}"
        program = self._spec.command[0]
        if isinstance(error, FileNotFoundError):
            return f"there is no program {program!r}; install it, or give its path"
        return f"{program}: {(error.strerror if isinstance(error, OSError) else None) or error}"


def _json(line: bytes) -> object:
    """The line's JSON value; None where it is none. Bytes that are not UTF-8 are replaced, not refused."""
    try:
        return json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _shown(line: bytes, secrets: Collection[str]) -> str:
    """The line for a log: one line, without secrets and control characters, not too long."""
    text = masked(line[: _MOST_SHOWN * 4].decode("utf-8", "replace"), secrets)
    text = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(line):,} bytes)"
