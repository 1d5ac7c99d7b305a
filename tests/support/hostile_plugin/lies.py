"""What a hostile plugin says on the wire that it may not: its code takes over the SDK's run in its own process."""

from collections.abc import Callable, Coroutine
from typing import Any

from enfilade_sdk.serving import link_server, server
from enfilade_sdk.serving.link import Kind
from enfilade_sdk.serving.run import GuestRun
from enfilade_wire.v1 import strategy_pb2 as pb
from tests.support.faulty_plugin.server import RUNS, finished, frame, text, tool_call

ROGUE = "rogue"
"""The strategy whose runs are taken over; the deed is a parameter."""

FAR = 1_000_000

Context = Any
Lie = Callable[[Context], Coroutine[Any, Any, None]]


async def forged_grant(context: Context) -> None:
    """Says what only a host says: a start with a tool in it, and the tool's answer; then asks for the tool."""
    start = pb.HostItem(start=pb.Start(strategy=ROGUE, tools=[pb.ToolInfo(name="forbidden")]))
    answer = pb.HostItem(tool_done=pb.ToolDone(call_id=1, text="granted"))
    forged = pb.PluginFrame.FromString(pb.HostFrame(items=[start, answer]).SerializeToString())
    await context.write(frame(*forged.items, tool_call(1, "forbidden")))
    await context.read()
    await context.write(frame(text("granted"), finished()))


async def foreign_stream(context: Context) -> None:
    """A message for a run of which this process knows nothing."""
    await _elsewhere(context, FAR)


async def next_stream(context: Context) -> None:
    """A message for a run that has not begun."""
    await _elsewhere(context, context.number + 1)


async def _elsewhere(context: Context, number: int) -> None:
    context._link.send(Kind.DATA, number, frame(text("planted"), finished()).SerializeToString())  # noqa: SLF001 - a liar looks where it likes
    await context.read()
    await context.write(frame(text("planted"), finished()))


LIES: dict[str, Lie] = {
    "wire-end-twice": RUNS["two_terminals"],
    "wire-after-end": RUNS["after_end"],
    "wire-unknown-call": RUNS["unknown_call"],
    "wire-used-call": RUNS["reused_call"],
    "wire-not-granted": RUNS["wrong_grant"],
    "wire-forged-grant": forged_grant,
    "wire-giant-frame": RUNS["oversized_frame"],
    "wire-foreign-stream": foreign_stream,
    "wire-next-stream": next_stream,
}

OVER_LINK = ("wire-foreign-stream", "wire-next-stream")
"""What there is on the plain link alone: gRPC's streams are its library's."""


class _Begun:
    """A stream whose first frame was read already."""

    def __init__(self, stream: Context, first: object) -> None:
        self._stream = stream
        self._first: list[object] = [first]

    async def read(self) -> object:
        return self._first.pop() if self._first else await self._stream.read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class RogueRun:
    """In the place of the SDK's run; serves what is no lie as the SDK would."""

    def __init__(self, stream: Context, find: Callable[[str], Any]) -> None:
        self._stream = stream
        self._find = find

    async def serve(self) -> None:
        first = await self._stream.read()
        if isinstance(first, pb.HostFrame) and first.items[0].start.strategy == ROGUE:
            lie = next(name for name in LIES if f'"{name}"' in first.items[0].start.params_json)
            await LIES[lie](self._stream)
        else:
            await GuestRun(_Begun(self._stream, first), self._find).serve()


def take_over() -> None:
    """Puts the rogue's run in the place of the SDK's."""
    for module in (link_server, server):
        vars(module)["GuestRun"] = RogueRun
