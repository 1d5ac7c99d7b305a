"""A plugin that serves, and says what no plugin should."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import grpc

from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1 import strategy_pb2_grpc as rpc

MIB = 1024 * 1024
Context = Any


def text(words: str = "hello") -> pb.PluginItem:
    return pb.PluginItem(message=pb.Message(type=pb.MESSAGE_TYPE_TEXT, text=words))


def finished() -> pb.PluginItem:
    return pb.PluginItem(finished=pb.Finished())


def tool_call(call_id: int = 1, name: str = "tool", window: int = 0) -> pb.PluginItem:
    return pb.PluginItem(tool_call=pb.ToolCall(call_id=call_id, name=name, arguments_json="{}", window=window))


def frame(*items: pb.PluginItem) -> pb.PluginFrame:
    return pb.PluginFrame(items=items)


async def well(context: Context) -> None:
    await context.write(frame(text(), finished()))


async def two_terminals(context: Context) -> None:
    await context.write(frame(text(), finished(), finished()))


async def after_end(context: Context) -> None:
    await context.write(frame(text(), finished()))
    await context.write(frame(text("one more thing")))


async def failed_after_end(context: Context) -> None:
    await context.write(frame(finished(), pb.PluginItem(failed=pb.Failed(code="internal", message="after all"))))


async def no_terminal(context: Context) -> None:
    await context.write(frame(text()))


async def unknown_call(context: Context) -> None:
    await context.write(frame(text(), pb.PluginItem(credit=pb.Credit(call_id=7, units=1))))
    await context.read()


async def unknown_cancel(context: Context) -> None:
    await context.write(frame(text(), pb.PluginItem(cancel_call=pb.CancelCall(call_id=7))))
    await context.read()


async def reused_call(context: Context) -> None:
    await context.write(frame(tool_call(1)))
    await context.read()
    await context.write(frame(tool_call(1)))
    await context.read()


async def zero_call(context: Context) -> None:
    await context.write(frame(tool_call(0)))
    await context.read()


async def too_many_calls(context: Context) -> None:
    await context.write(frame(*(tool_call(number, "hang") for number in range(1, 1000))))
    await context.read()


async def huge_window(context: Context) -> None:
    await context.write(frame(tool_call(1, window=1 << 31)))
    await context.read()


async def too_much_credit(context: Context) -> None:
    await context.write(frame(tool_call(1, "hang", window=1)))
    for _ in range(3):
        await context.write(frame(pb.PluginItem(credit=pb.Credit(call_id=1, units=1 << 20))))
    await context.read()


async def wrong_grant(context: Context) -> None:
    """Asks for what it was not granted, tells what it was told, and ends well."""
    await context.write(
        frame(tool_call(1, "forbidden"), pb.PluginItem(model_call=pb.ModelCall(call_id=2, model="forbidden")))
    )
    told = 0
    while told < 2:
        answer = await context.read()
        for item in answer.items:
            await context.write(frame(text(f"{item.call_failed.code}: {item.call_failed.message}")))
            told += 1
    await context.write(frame(finished()))


async def bad_request(context: Context) -> None:
    """Calls with what cannot be read, tells what it was told, and ends well."""
    await context.write(frame(pb.PluginItem(model_call=pb.ModelCall(call_id=1, messages_json=["{not json"]))))
    answer = await context.read()
    failure = answer.items[0].call_failed
    await context.write(frame(text(f"{failure.code}: {failure.message}"), finished()))


async def call_and_cancel(context: Context) -> None:
    """Opens and gives up calls in one breath, many times over, then makes one that counts."""
    for number in range(1, 1000):
        cancel = pb.PluginItem(cancel_call=pb.CancelCall(call_id=number))
        await context.write(frame(tool_call(number, "hang"), cancel))
    await context.write(frame(tool_call(5000)))
    answer = await context.read()
    while answer.items[0].WhichOneof("item") != "tool_done" or answer.items[0].tool_done.call_id != 5000:
        answer = await context.read()
    await context.write(frame(text(answer.items[0].tool_done.text), finished()))


async def bad_json(context: Context) -> None:
    message = pb.Message(type=pb.MESSAGE_TYPE_LOG, payload_json="{not json")
    await context.write(frame(pb.PluginItem(message=message)))
    await context.read()


async def bad_payload(context: Context) -> None:
    message = pb.Message(type=pb.MESSAGE_TYPE_VARIABLE, payload_json='{"variable_name": "usage", "variable_value": 1}')
    await context.write(frame(pb.PluginItem(message=message)))
    await context.read()


async def bad_type(context: Context) -> None:
    await context.write(frame(pb.PluginItem(message=pb.Message(type=99, text="x"))))  # type: ignore[arg-type]  # that is the fault
    await context.read()


async def empty_item(context: Context) -> None:
    await context.write(frame(pb.PluginItem()))
    await context.read()


async def empty_frames(context: Context) -> None:
    """Sends frames without items, which mean nothing, then ends well."""
    for _ in range(1000):
        await context.write(frame())
    await context.write(frame(text(), finished()))


async def oversized(context: Context) -> None:
    await context.write(frame(text("x" * (9 * MIB))))
    await context.read()


async def oversized_frame(context: Context) -> None:
    await context.write(frame(*(text("x" * (7 * MIB)) for _ in range(3))))
    await context.read()


async def odd_failure(context: Context) -> None:
    failed = pb.Failed(code="no_such_code", message="odd \x1b[31m", details_json="[not an object")
    await context.write(frame(pb.PluginItem(failed=failed)))


async def long_failure(context: Context) -> None:
    await context.write(frame(pb.PluginItem(failed=pb.Failed(code="internal", message="so " * MIB))))


async def new_code(context: Context) -> None:
    await context.write(frame(pb.PluginItem(failed=pb.Failed(code="no_such_code", message="from the future"))))


async def aborts(context: Context) -> None:
    await context.write(frame(text()))
    await context.abort(grpc.StatusCode.INTERNAL, "the handler fell over")


async def raises(context: Context) -> None:
    await context.write(frame(text()))
    raise ValueError("out of the handler")


async def deaf(context: Context) -> None:
    """Hears no cancel: neither the item nor the RPC's."""
    await context.write(frame(text()))
    while True:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            continue


async def stands_still(context: Context) -> None:
    """Blocks its whole process."""
    await context.write(frame(text()))
    await asyncio.sleep(0.05)
    time.sleep(60)  # noqa: ASYNC251 - that is the fault


async def dies_midway(context: Context) -> None:
    """Dies when the host has surely read its text: the answer to a call comes after it."""
    await context.write(frame(text(), tool_call(1)))
    await context.read()
    sys.stderr.write("[ERROR] out of patience\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


async def exits_midway(context: Context) -> None:
    await context.write(frame(text()))
    os._exit(0)


async def floods_messages(context: Context) -> None:
    while True:
        await context.write(frame(*(text("x" * 1000) for _ in range(256))))


async def floods_calls(context: Context) -> None:
    for number in range(1, 1_000_000):
        await context.write(frame(tool_call(number)))


RUNS: dict[str, Callable[[Context], Coroutine[Any, Any, None]]] = {
    function.__name__: function
    for function in (
        well,
        two_terminals,
        after_end,
        failed_after_end,
        no_terminal,
        unknown_call,
        unknown_cancel,
        reused_call,
        zero_call,
        too_many_calls,
        huge_window,
        too_much_credit,
        wrong_grant,
        bad_request,
        call_and_cancel,
        bad_json,
        bad_payload,
        bad_type,
        empty_item,
        empty_frames,
        oversized,
        oversized_frame,
        odd_failure,
        long_failure,
        new_code,
        aborts,
        raises,
        deaf,
        stands_still,
        dies_midway,
        exits_midway,
        floods_messages,
        floods_calls,
    )
}


async def describe(mode: str, context: Context) -> pb.DescribeResponse:
    """What the plugin says of itself: each run mode is a strategy; a `describe_` mode goes wrong here."""
    if mode == "describe_raises":
        await context.abort(grpc.StatusCode.INTERNAL, "I do not know who I am")
    if mode == "describe_hangs":
        await asyncio.sleep(60)
    if mode == "describe_dies":
        os._exit(9)
    if mode == "describe_newer":
        return pb.DescribeResponse(protocol=2)
    if mode == "describe_nothing":
        return pb.DescribeResponse(protocol=1)
    if mode == "describe_garbage":
        return pb.DescribeResponse(protocol=1, strategies=[pb.StrategyDescription(name="x", parameters_json="{[")])
    if mode == "describe_other":
        return pb.DescribeResponse(protocol=1, strategies=[pb.StrategyDescription(name="somebody else")])
    return pb.DescribeResponse(protocol=1, strategies=[pb.StrategyDescription(name=name) for name in RUNS])


async def serve(mode: str, path: str, say: Callable[[str], None]) -> None:
    """Serves until it is killed; it hears neither shutdown nor the end of stdin, and in one mode no SIGTERM."""

    class Servicer:
        async def Describe(self, _request: pb.DescribeRequest, context: Context) -> pb.DescribeResponse:  # noqa: N802 - the wire's name
            return await describe(mode, context)

        async def Run(self, _requests: Any, context: Context) -> None:  # noqa: N802 - the wire's name
            start = await context.read()
            if isinstance(start, pb.HostFrame):
                await RUNS[start.items[0].start.strategy](context)

    if mode == "ignores_sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode == "hears_sigterm":
        signal.signal(signal.SIGTERM, lambda *_: os.write(2, b"heard SIGTERM\n") and os._exit(0))
    limits = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
    server = grpc.aio.server(options=limits)
    rpc.add_StrategyPluginServicer_to_server(Servicer(), server)  # type: ignore[arg-type]  # it writes to the context
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    say(f"1|1|unix|{path}|grpc|\n")
    await server.wait_for_termination()
