"""The plain link: whole frames in order, however the socket cuts them, and never more than the reader lets through."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade_sdk.serving.link import HEADER, WINDOW, Kind, Link, LinkStream, StreamBrokenError
from enfilade_wire.v1 import strategy_pb2 as pb

LIMIT = 1024 * 1024
SECONDS = 15.0


class End:
    """One end of a link, which keeps what came."""

    def __init__(self) -> None:
        self.link = Link(self, LIMIT)
        self.blocks: list[tuple[int, int, bytes]] = []
        self.stream: LinkStream[pb.PluginFrame] = LinkStream(self.link, 1, pb.PluginFrame.FromString)
        self.why: StreamBrokenError | None = None
        self._news = asyncio.Event()

    async def until(self, holds: Callable[[], object]) -> None:
        """Waits until something holds, which only what comes over the link can bring about."""
        async with asyncio.timeout(SECONDS):
            while not holds():
                self._news.clear()
                await self._news.wait()

    def block(self, kind: int, stream: int, payload: bytes) -> None:
        self._news.set()
        self.blocks.append((kind, stream, payload))
        if kind == Kind.DATA:
            self.stream.took(payload)
        elif kind == Kind.CREDIT:
            self.stream.credited(int.from_bytes(payload, "big"))
        elif kind == Kind.END:
            self.stream.ended()

    def lost(self, reason: StreamBrokenError) -> None:
        self.why = reason
        self._news.set()
        self.stream.broke(reason)


@asynccontextmanager
async def two_ends() -> AsyncIterator[tuple[End, End]]:
    loop = asyncio.get_running_loop()
    ends = End(), End()
    for end, sock in zip(ends, socket.socketpair(), strict=True):
        await loop.create_connection(lambda end=end: end.link, sock=sock)  # type: ignore[misc]  # a lambda with a default
    try:
        yield ends
    finally:
        for end in ends:
            end.link.close("the test is over")
        await asyncio.sleep(0)


def frame(words: str) -> pb.PluginFrame:
    return pb.PluginFrame(items=[pb.PluginItem(message=pb.Message(text=words))])


async def soon(task: "asyncio.Task[object]") -> bool:
    """Whether a task ends when the loop turns a few times."""
    for _ in range(50):
        await asyncio.sleep(0)
    return task.done()


BLOCKS = st.lists(st.tuples(st.integers(0, 255), st.integers(0, 2**32 - 1), st.binary(max_size=300)), max_size=8)


@given(BLOCKS, st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_blocks_arrive_whole_and_in_order_however_they_are_cut(
    blocks: list[tuple[int, int, bytes]], cuts: list[int]
) -> None:
    got: list[tuple[int, int, bytes]] = []

    class Owner:
        def block(self, kind: int, stream: int, payload: bytes) -> None:
            got.append((kind, stream, payload))

        def lost(self, reason: StreamBrokenError) -> None:
            raise AssertionError(reason)

    link = Link(Owner(), LIMIT)
    data = b"".join(HEADER.pack(len(payload), stream, kind) + payload for kind, stream, payload in blocks)
    at = number = 0
    while at < len(data):
        size = cuts[number % len(cuts)]
        link.feed(data[at : at + size])
        at, number = at + size, number + 1
    assert got == blocks


async def test_what_is_sent_in_one_turn_leaves_in_one_write() -> None:
    async with two_ends() as (one, other):
        for number in range(100):
            one.link.send(Kind.PING, number)
        await other.until(lambda: len(other.blocks) == 100)
        assert [stream for _, stream, _ in other.blocks] == list(range(100))


async def test_a_writer_waits_until_its_reader_has_read() -> None:
    async with two_ends() as (one, other):
        words, count = "x" * 50_000, 100

        async def write_all() -> None:
            for _ in range(count):
                await one.stream.write(frame(words))

        writing = asyncio.ensure_future(write_all())
        assert not await soon(writing)
        waiting = sum(len(payload) for _, _, payload in other.blocks)
        assert waiting <= WINDOW + 60_000
        async with asyncio.timeout(SECONDS):
            for _ in range(count):
                got = await other.stream.read()
                assert got is not None
                assert got.items[0].message.text == words
            await writing


async def test_a_frame_that_is_larger_than_the_window_goes_through() -> None:
    async with two_ends() as (one, other):
        words = "x" * (3 * WINDOW)
        async with asyncio.timeout(SECONDS):
            for _ in range(3):
                writing = asyncio.ensure_future(one.stream.write(frame(words)))
                got = await other.stream.read()
                assert got is not None
                assert len(got.items[0].message.text) == len(words)
                assert other.stream.frame_bytes > len(words)
                await writing


async def test_a_reader_that_is_cancelled_loses_nothing() -> None:
    async with two_ends() as (one, other):
        reading = asyncio.ensure_future(other.stream.read())
        assert not await soon(reading)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await one.stream.write(frame("hello"))
        async with asyncio.timeout(SECONDS):
            assert await other.stream.read() == frame("hello")


async def test_what_came_before_the_break_is_read_and_then_the_break_is_told() -> None:
    async with two_ends() as (one, other):
        await one.stream.write(frame("last words"))
        one.link.close("gone")
        await other.until(lambda: other.why)
        async with asyncio.timeout(SECONDS):
            assert await other.stream.read() == frame("last words")
            with pytest.raises(StreamBrokenError, match="the connection was closed"):
                await other.stream.read()
        assert other.stream.done
        with pytest.raises(StreamBrokenError):
            await other.stream.write(frame("too late"))


async def test_the_end_of_a_stream_is_none() -> None:
    async with two_ends() as (one, other):
        await one.stream.write(frame("hello"))
        one.link.send(Kind.END, 1)
        async with asyncio.timeout(SECONDS):
            assert await other.stream.read() == frame("hello")
            assert await other.stream.read() is None
        with pytest.raises(StreamBrokenError, match="the stream is over"):
            await other.stream.write(frame("too late"))


async def test_a_stream_that_was_given_up_drops_what_still_comes_and_wakes_who_waits() -> None:
    async with two_ends() as (one, other):
        reading = asyncio.ensure_future(other.stream.read())
        assert not await soon(reading)
        other.stream.give_up()
        with pytest.raises(StreamBrokenError, match="given up"):
            await asyncio.wait_for(reading, SECONDS)
        one.link.send(Kind.DATA, 1, b"nobody reads this")
        await other.until(lambda: other.blocks)
        assert other.stream.done
        assert one.blocks == [(Kind.END, 1, b"")]


async def test_a_peer_that_sends_over_the_window_is_cut_off() -> None:
    async with two_ends() as (one, other):
        for _ in range(3):
            one.link.send(Kind.DATA, 1, b"x" * WINDOW)
        await other.until(lambda: other.why)
        assert other.why is not None
        assert other.why.rule == "a stream sends within its window"
        assert other.why.lost


async def test_frames_without_a_byte_are_not_kept_for_a_reader_that_does_not_come() -> None:
    async with two_ends() as (one, other):
        for _ in range(1000):
            one.link.send(Kind.DATA, 1)
        one.link.send(Kind.END, 1)
        await other.until(lambda: len(other.blocks) > 1000)
        assert other.stream.done
        assert await other.stream.read() is None


async def test_a_block_over_the_limit_is_refused_before_it_is_read() -> None:
    async with two_ends() as (one, other):
        one.link.send(Kind.DATA, 1, b"x" * (LIMIT + 1))
        await other.until(lambda: other.why)
        assert other.why is not None
        assert other.why.rule == "a frame is within the limit"
        assert other.blocks == []


async def test_a_reader_of_many_frames_lets_others_have_their_turn() -> None:
    async with two_ends() as (one, other):
        for _ in range(500):
            await one.stream.write(frame("x"))
        await other.until(lambda: len(other.blocks) == 500)
        turns = 0

        async def neighbour() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(neighbour())
        for _ in range(500):
            await other.stream.read()
        beside.cancel()
        assert turns >= 20
