"""The plugin's end of the plain link, spoken to by hand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from enfilade_sdk.serving.link import HEADER, Kind
from enfilade_sdk.serving.link_server import LinkServer
from enfilade_sdk.serving.plugin import Offer, Plugin
from enfilade_wire.v1 import strategy_pb2 as pb

SECONDS = 15.0


class Greets:
    def get_parameters(self) -> list[object]:
        return []

    async def invoke(self) -> AsyncIterator[str]:
        yield "hello"


class Talk:
    """One connection, block by block."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer

    def say(self, kind: Kind, stream: int = 0, payload: bytes = b"") -> None:
        self.writer.write(HEADER.pack(len(payload), stream, kind) + payload)

    async def hear(self) -> tuple[int, int, bytes]:
        async with asyncio.timeout(SECONDS):
            length, stream, kind = HEADER.unpack(await self._reader.readexactly(HEADER.size))
            return kind, stream, await self._reader.readexactly(length)

    async def at_end(self) -> bool:
        try:
            async with asyncio.timeout(SECONDS):
                return await self._reader.read() == b""
        except ConnectionResetError:  # it closed with bytes of ours unread
            return True


@asynccontextmanager
async def talk() -> AsyncIterator[Talk]:
    """A server with the token `secret` and one strategy, and a connection to it."""
    with TemporaryDirectory() as folder:
        server, stop = (
            LinkServer(Plugin([Offer("greets", f"{__name__}:Greets")]), "secret", 4096, lambda: None),
            asyncio.Event(),
        )
        path = str(Path(folder) / "s")
        await server.start(path)
        serving = asyncio.ensure_future(server.serve_until(stop))
        reader, writer = await asyncio.open_unix_connection(path)
        try:
            yield Talk(reader, writer)
        finally:
            writer.close()
            stop.set()
            await serving


def start() -> bytes:
    begun = pb.Start(strategy="greets", params_json="{}")
    return pb.HostFrame(items=[pb.HostItem(start=begun)]).SerializeToString()


async def test_a_run_is_its_messages_its_end_and_the_end_of_its_stream() -> None:
    async with talk() as host:
        host.say(Kind.HELLO, 0, b"secret")
        host.say(Kind.DATA, 1, start())
        kind, stream, payload = await host.hear()
        assert (kind, stream) == (Kind.DATA, 1)
        items = pb.PluginFrame.FromString(payload).items
        assert [item.WhichOneof("item") for item in items] == ["message", "finished"]
        assert await host.hear() == (Kind.END, 1, b"")


async def test_a_run_that_is_given_up_before_its_first_step_ends_all_the_same() -> None:
    async with talk() as host:
        host.say(Kind.HELLO, 0, b"secret")
        host.say(Kind.DATA, 1, start())
        host.say(Kind.END, 1)
        assert await host.hear() == (Kind.END, 1, b"")


async def test_what_comes_late_for_a_run_that_has_ended_opens_no_other() -> None:
    async with talk() as host:
        host.say(Kind.HELLO, 0, b"secret")
        host.say(Kind.DATA, 5, start())
        assert (await host.hear())[0] == Kind.DATA
        assert await host.hear() == (Kind.END, 5, b"")
        host.say(Kind.DATA, 5, start())
        host.say(Kind.CREDIT, 5, b"\0\0\0\1")
        host.say(Kind.PING, 6)
        assert await host.hear() == (Kind.PONG, 6, b"")


async def test_describe_and_ping_are_answered_under_their_numbers() -> None:
    async with talk() as host:
        host.say(Kind.HELLO, 0, b"secret")
        host.say(Kind.DESCRIBE, 1)
        host.say(Kind.PING, 2)
        kind, stream, payload = await host.hear()
        assert (kind, stream) == (Kind.DATA, 1)
        assert [s.name for s in pb.DescribeResponse.FromString(payload).strategies] == ["greets"]
        assert await host.hear() == (Kind.PONG, 2, b"")


async def test_without_the_token_nothing_is_answered() -> None:
    for first, payload in ((Kind.HELLO, b"guess"), (Kind.DESCRIBE, b""), (Kind.DATA, start())):
        async with talk() as host:
            host.say(first, 1, payload)
            assert await host.at_end()


async def test_a_frame_over_the_limit_closes_the_connection() -> None:
    async with talk() as host:
        host.say(Kind.HELLO, 0, b"secret")
        host.say(Kind.DATA, 1, b"x" * 5000)
        assert await host.at_end()
