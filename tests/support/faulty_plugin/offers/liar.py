"""A plugin served by the SDK whose code takes the SDK's run over and breaks the rules of the plain link."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, NoReturn

from enfilade_sdk.serving import link_server
from enfilade_sdk.serving.link import HEADER, WINDOW, Kind
from enfilade_wire.v1 import strategy_pb2 as pb
from tests.support.faulty_plugin.server import RUNS, finished, frame, text

FAR = 1_000_000


class Liar:
    def get_parameters(self) -> list[Any]:
        return []

    def invoke(self) -> Iterator[str]:
        yield "never asked"


class Context:
    """A stream with what a gRPC handler's context has."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.link = stream._link  # noqa: SLF001 - a liar looks where it likes
        self.read, self.write = stream.read, stream.write

    async def abort(self, _code: object, details: str) -> NoReturn:
        raise RuntimeError(details)

    def send(self, kind: int, number: int, payload: bytes = b"") -> None:
        self.link.send(kind, number, payload)


async def beyond_window(context: Context) -> None:
    for _ in range(64):
        context.send(Kind.DATA, context.stream.number, frame(text("x" * (WINDOW // 2))).SerializeToString())
    await asyncio.sleep(60)


async def unknown_stream(context: Context) -> None:
    context.send(Kind.DATA, FAR)
    await context.read()


async def unknown_kind(context: Context) -> None:
    context.send(99, context.stream.number)
    await context.read()


async def garbage_frame(context: Context) -> None:
    context.send(Kind.DATA, context.stream.number, b"\xff" * 100)
    await context.read()


async def huge_block(context: Context) -> None:
    await asyncio.sleep(0)
    context.link._transport.write(HEADER.pack(1 << 30, context.stream.number, Kind.DATA))  # noqa: SLF001
    await context.read()


async def ends_twice(context: Context) -> None:
    await context.write(frame(text(), finished()))
    context.send(Kind.END, context.stream.number)


async def hangs_up(context: Context) -> None:
    await context.write(frame(text()))
    context.link.close("enough")
    await asyncio.sleep(60)


async def unasked_pongs(context: Context) -> None:
    for number in range(1000):
        context.send(Kind.PONG, number)
    await context.write(frame(text(), finished()))


async def too_much_of_a_good_thing(context: Context) -> None:
    """Gives credit that nobody asked for, then ends well."""
    for _ in range(1000):
        context.send(Kind.CREDIT, context.stream.number, b"\xff\xff\xff\xff" * 3)
    await context.write(frame(text(), finished()))


LIES: dict[str, Callable[[Context], Coroutine[Any, Any, None]]] = {
    function.__name__: function
    for function in (
        beyond_window,
        unknown_stream,
        unknown_kind,
        garbage_frame,
        huge_block,
        ends_twice,
        hangs_up,
        unasked_pongs,
        too_much_of_a_good_thing,
    )
}


class LyingRun:
    def __init__(self, stream: Any, _find: object) -> None:
        self._context = Context(stream)

    async def serve(self) -> None:
        start = await self._context.read()
        if isinstance(start, pb.HostFrame):
            mode = start.items[0].start.strategy
            await (LIES.get(mode) or RUNS[mode])(self._context)


vars(link_server)["GuestRun"] = LyingRun
