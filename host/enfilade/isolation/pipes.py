"""The pipes of a started process: the first line of its stdout, everything else into the log, its end."""

import asyncio
from typing import cast

from enfilade.isolation.output import OutputTail

STDIN, STDOUT, STDERR = 0, 1, 2


class GuestPipes(asyncio.SubprocessProtocol):
    """What asyncio tells about a started process.

    Attributes:
        output: Where everything goes that is printed, but for the first line on stdout.
        exited: Set when the process itself has ended. A grandchild may still hold the pipes.
        drained: Set when nothing more can come out of the pipes.
    """

    def __init__(self, output: OutputTail, line_limit: int) -> None:
        self.output = output
        self.exited = asyncio.Event()
        self.drained = asyncio.Event()
        self._line = bytearray()
        self._line_limit = line_limit
        self._first_line: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._open = {STDOUT, STDERR}
        self._transport: asyncio.SubprocessTransport | None = None

    async def first_line(self) -> bytes:
        """The first line of stdout with its end; less when stdout ended or the line is over the limit."""
        return await asyncio.shield(self._first_line)

    def write(self, data: bytes) -> None:
        """Writes to stdin; a process that has closed it is not told."""
        if self._transport is not None:
            stdin = cast(asyncio.WriteTransport | None, self._transport.get_pipe_transport(STDIN))
            if stdin is not None and not stdin.is_closing():
                stdin.write(data)

    def close_stdin(self) -> None:
        """Cuts the life line."""
        if self._transport is not None and (stdin := self._transport.get_pipe_transport(STDIN)) is not None:
            stdin.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called when the process was started."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called with what was printed."""
        if fd == STDOUT and not self._first_line.done():
            data = self._read_first_line(data)
        if data and (pause := self.output.feed(fd, data)):
            self._pause(fd, pause)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Called when a pipe has ended."""
        if fd == STDOUT:
            self._set_first_line()
        self.output.end(fd)
        self._open.discard(fd)
        if not self._open:
            self.drained.set()

    def process_exited(self) -> None:
        """Called when the process has ended, before its last output was read."""
        self.exited.set()

    def _read_first_line(self, data: bytes) -> bytes:
        """Takes the first line off; gives what follows it."""
        line, end, rest = data.partition(b"\n")
        self._line += line + end
        if end or len(self._line) > self._line_limit:
            self._set_first_line()
        return rest

    def _set_first_line(self) -> None:
        if not self._first_line.done():
            self._first_line.set_result(bytes(self._line[: self._line_limit]))

    def _pause(self, fd: int, seconds: float) -> None:
        pipe = cast(asyncio.ReadTransport | None, self._transport.get_pipe_transport(fd) if self._transport else None)
        if pipe is not None:
            pipe.pause_reading()
            asyncio.get_running_loop().call_later(seconds, _resume, pipe)


def _resume(pipe: asyncio.ReadTransport) -> None:
    if not pipe.is_closing():
        pipe.resume_reading()
