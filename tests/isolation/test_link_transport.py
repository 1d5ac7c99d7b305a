"""The host's end of the plain link."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from enfilade.isolation.transport.link_transport import LinkTransport
from enfilade_sdk.serving.link import HEADER, Kind
from enfilade_wire.v1 import strategy_pb2 as pb

FRAME = pb.HostFrame(items=[pb.HostItem(cancel=pb.Cancel(reason="so"))])


class Plugin:
    """Answers describe, and notes down of which streams data and ends came."""

    def __init__(self) -> None:
        self.came: asyncio.Queue[tuple[Kind, int]] = asyncio.Queue()
        self.over = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Reads blocks to the end."""
        try:
            while True:
                length, stream, kind = HEADER.unpack(await reader.readexactly(HEADER.size))
                await reader.readexactly(length)
                if kind == Kind.DESCRIBE:
                    payload = pb.DescribeResponse().SerializeToString()
                    writer.write(HEADER.pack(len(payload), stream, Kind.DATA) + payload)
                elif kind in (Kind.DATA, Kind.END):
                    self.came.put_nowait((Kind(kind), stream))
        except asyncio.IncompleteReadError:
            writer.close()
            await writer.wait_closed()
            self.over.set()


@asynccontextmanager
async def connected() -> AsyncGenerator[tuple[LinkTransport, Plugin], None]:
    plugin = Plugin()
    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.start_unix_server(plugin.serve, f"{folder}/s")
        transport = LinkTransport(f"{folder}/s", "token")
        await transport.describe(15)
        try:
            yield transport, plugin
        finally:
            await transport.close()
            async with asyncio.timeout(15):
                await plugin.over.wait()
            server.close()
            await server.wait_closed()


async def test_runs_are_numbered_in_the_order_in_which_their_first_frames_leave() -> None:
    async with connected() as (transport, plugin):
        early, late = transport.open_run(), transport.open_run()
        for stream in (late, early, late):
            await stream.write(FRAME)
        async with asyncio.timeout(15):
            came = [await plugin.came.get() for _ in range(3)]
    assert [kind for kind, _ in came] == [Kind.DATA] * 3
    first, second, third = (number for _, number in came)
    assert first == third < second


async def test_a_run_that_is_given_up_before_its_first_frame_says_nothing() -> None:
    async with connected() as (transport, plugin):
        unwritten, written = transport.open_run(), transport.open_run()
        unwritten.cancel()
        await written.write(FRAME)
        written.cancel()
        async with asyncio.timeout(15):
            came = [await plugin.came.get() for _ in range(2)]
    assert [kind for kind, _ in came] == [Kind.DATA, Kind.END]
    assert unwritten.done


async def test_a_run_that_was_not_written_to_breaks_with_its_link_too() -> None:
    async with connected() as (transport, _):
        waiting = transport.open_run()
        await transport.close()
        assert waiting.done
        assert transport.open_run().done
