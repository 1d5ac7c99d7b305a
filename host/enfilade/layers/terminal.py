"""Asks whoever sits at the terminal."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Mapping
from typing import Any

from enfilade.petition import Decision, Petition

TERMINAL = "/dev/tty"

_LINE_LIMIT = 64 * 1024


class Terminal:
    """Asks one question after the other, on the terminal itself, whatever standard input and output are.

    Without a terminal the answer is no.

    Args:
        path: The terminal's device.
    """

    def __init__(self, path: str = TERMINAL) -> None:
        self._path = path
        self._turn: asyncio.Lock | None = None

    async def __call__(self, petition: Petition) -> Decision:
        """Shows the call and waits for `y`, `n`, a reason, or `c` and other arguments."""
        self._turn = self._turn or asyncio.Lock()
        async with self._turn:
            try:
                async with _opened(self._path) as line:
                    return await _asked(line, petition)
            except OSError as error:
                reason = f"nobody could be asked, for there is no terminal ({error.strerror or error})"
                return Decision(allowed=False, reason=reason)


class _Line:
    """Reads and writes lines without ever holding up the event loop."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = b""

    def say(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._descriptor, data) :]

    async def read(self) -> str | None:
        """One line; None at the end of the input."""
        while b"\n" not in self._pending:
            data = await self._ready()
            if not data or len(self._pending) > _LINE_LIMIT:
                return None
            self._pending += data
        text, _, self._pending = self._pending.partition(b"\n")
        return text.decode("utf-8", "replace").strip()

    async def _ready(self) -> bytes:
        loop = asyncio.get_running_loop()
        readable: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._descriptor, _resolve, readable)
        try:
            await readable
        finally:
            loop.remove_reader(self._descriptor)
        return os.read(self._descriptor, 4096)


def _resolve(readable: asyncio.Future[None]) -> None:
    if not readable.done():
        readable.set_result(None)


@contextlib.asynccontextmanager
async def _opened(path: str) -> AsyncIterator[_Line]:
    descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    line = _Line(descriptor)
    try:
        if os.tcgetpgrp(descriptor) != os.getpgrp():  # to read would stop the whole process
            raise OSError(0, "this process is in the background")
        yield line
    except asyncio.CancelledError:
        line.say("\nNobody waits for the answer any more.\n")
        raise
    finally:
        os.close(descriptor)


async def _asked(line: _Line, petition: Petition) -> Decision:
    line.say(f"\nThe agent wants to call: {petition.shown}\n")
    while True:
        line.say("Allow it? [y]es, [n]o (and why), [c]hange the arguments: ")
        said = await line.read()
        if said is None:
            return Decision(allowed=False)
        word, _, rest = said.partition(" ")
        if word.lower() in ("y", "yes"):
            return Decision(allowed=True)
        if word.lower() in ("n", "no"):
            return Decision(allowed=False, reason=rest.strip())
        if word.lower() in ("c", "change"):
            return await _changed(line)


async def _changed(line: _Line) -> Decision:
    while True:
        line.say("Arguments (a JSON object, on one line): ")
        said = await line.read()
        if said is None:
            return Decision(allowed=False)
        try:
            arguments: Mapping[str, Any] | object = json.loads(said)
        except ValueError as error:
            line.say(f"That is not JSON ({error}).\n")
            continue
        if isinstance(arguments, Mapping):
            return Decision(allowed=True, arguments=arguments)
        line.say('That is no object, such as {"path": "notes.txt"}.\n')
