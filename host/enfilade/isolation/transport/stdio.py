"""The output of plugins that go-plugin serves: it takes over their stdout and stderr and sends both in a stream.

Left unread, such a plugin would stand still at a full pipe. Plugins of other makes have no such service.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import grpc

from enfilade.isolation.output import OutputTail

METHOD = "/plugin.GRPCStdio/StreamStdio"

_CHANNEL, _DATA = 1, 2
_OWN_STREAMS = 16
"""Added to a channel's number, so that its lines do not mix with those of the process's own descriptors."""


async def drain_stdio(channel: "grpc.aio.Channel", output: OutputTail) -> None:
    """Reads until the plugin ends, or at once finds that it has no such stream."""
    method: Any = channel.unary_stream(METHOD)
    stream = method(b"")
    with contextlib.suppress(grpc.aio.AioRpcError, ValueError):
        async for message in stream:
            number, data = stdio_data(message)
            await asyncio.sleep(output.feed(_OWN_STREAMS + number, data))


def stdio_data(message: bytes) -> tuple[int, bytes]:
    """The channel (1 stdout, 2 stderr) and bytes of go-plugin's `StdioData`, read from the wire without its `.proto`.

    Raises:
        ValueError: It is no such message.
    """
    number, data = 0, b""
    for field, value in _fields(message):
        if field == _CHANNEL and isinstance(value, int):
            number = value
        elif field == _DATA and isinstance(value, bytes):
            data = value
    return number, data


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        value, at = _varint(message, at)
        if tag & 7 == 0:
            yield tag >> 3, value
        elif tag & 7 == 2 and at + value <= len(message):  # noqa: PLR2004 - the wire type of bytes
            yield tag >> 3, message[at : at + value]
            at += value
        else:
            raise ValueError(f"expected a varint or bytes at {at} of a StdioData message")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:  # noqa: PLR2004 - bits of the longest
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # noqa: PLR2004 - the last byte of a varint has no high bit
            return value, at
    raise ValueError(f"expected a varint at {at} of a StdioData message")
