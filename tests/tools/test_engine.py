import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from enfilade.tools.blobs import in_parts
from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.limits import ToolLimits
from enfilade_sdk.errors import QuotaExceededError, ToolFailedError
from enfilade_sdk.messages import (
    BlobChunkPayload,
    MessageType,
    TextPayload,
    ToolInvokeMessage,
    blob_message,
    file_message,
    json_message,
    log_message,
    retriever_message,
    text_message,
    url_message,
    variable_message,
)
from enfilade_sdk.prompts import ToolRequest, ToolResult
from tests.support.tool_calls import ForeignTool, call, call_once, engine_of

MIB = 1024 * 1024
BRIEF = ToolLimits(timeout=0.2, grace=0.2)


async def until(true: Callable[[], bool]) -> None:
    """Waits for what another thread or task is about to do; the test's own time limit bounds it."""
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - threads set no asyncio.Event
            await asyncio.sleep(0.002)


async def test_the_menu_is_the_callers_to_keep_and_change() -> None:
    tool = ForeignTool(
        "weather", {"type": "object", "properties": {"city": {"type": "string"}}}, description="Tells it."
    )
    async with engine_of(tool) as engine:
        [first] = engine.menu()
        assert first.to_openai() == {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tells it.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
        first.parameters["properties"].clear()
        assert engine.menu()[0].parameters["properties"] == {"city": {"type": "string"}}


async def test_a_call_gives_its_messages_and_then_one_result() -> None:
    done = await call_once(ForeignTool("t", answers=[text_message("a"), json_message({"b": [1, "é"]})]))
    assert done.kinds == ["text", "json"]
    assert done.text == 'a\n{"b":[1,"é"]}'
    assert done.result.is_error is False
    assert done.result.details["arguments"] == {}
    assert done.result.details["provider"] == "foreign"
    assert "code" not in done.result.details
    assert done.result.details["seconds"] == done.result.seconds > 0


WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": {"type": "string", "enum": ["metric", "imperial"]},
        "max_rows": {"type": "integer"},
    },
    "required": ["city"],
}


async def test_what_the_user_fixed_wins_and_is_not_offered() -> None:
    tool = ForeignTool("weather", WEATHER, ["rain"])
    entry = ToolEntry(
        tool=tool, fixed={"unit": "metric", "max_rows": 0}, description="The user's words.", required=True
    )
    async with engine_of(entry) as engine:
        [offered] = engine.menu()
        done = await call(engine, "weather", '{"city": "Oban", "unit": "imperial", "max_rows": 99}')
    assert offered.parameters == {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    assert offered.description == "The user's words."
    assert tool.calls == [{"city": "Oban", "unit": "metric", "max_rows": 0}]
    assert done.result.details["arguments"] == tool.calls[0]
    assert done.result.details["dropped"] == ["unit", "max_rows"]


async def test_a_secret_of_the_user_reaches_the_tool_and_nothing_else() -> None:
    declared = [{"name": "q", "type": "string"}, {"name": "key", "type": "secret-input", "required": True}]
    tool = ForeignTool("search", declared, [RuntimeError("401 for key swordfish-99")])
    entry = ToolEntry(tool=tool, fixed={"key": "swordfish-99"}, required=True)
    done = await call_once(entry, "tides")
    assert tool.calls == [{"q": "tides", "key": "swordfish-99"}]
    assert done.text == "the tool search failed: RuntimeError: 401 for key ***"
    assert "swordfish" not in repr(done)


async def test_an_unknown_tool_is_answered_with_the_names_there_are() -> None:
    async with engine_of(ForeignTool("get_berths"), ForeignTool("weather")) as engine:
        done = await call(engine, "list_berths")
    assert done.result.is_error
    assert done.text == (
        "there is not a tool named list_berths. Did you mean 'get_berths'? The tools are: get_berths, weather"
    )
    assert done.result.details["code"] == "tool_not_found"


@pytest.mark.parametrize("name", ["", "x" * 100_000, "a\ud800", "../etc", "{}"])
async def test_any_name_may_be_asked_for(name: str) -> None:
    async with engine_of(ForeignTool("weather")) as engine:
        done = await call(engine, name)
    assert done.text.startswith("there is not a tool named ")
    assert len(done.text) < 300


async def test_without_tools_that_is_said() -> None:
    assert (await call(ToolEngine([]), "x")).text == "there is not a tool named x; there are no tools at all"


async def test_names_are_made_valid_and_mapped_back() -> None:
    tools = [ForeignTool("weather.get", answers=["dotted"]), ForeignTool("weather_get", answers=["plain"])]
    async with engine_of(*tools) as engine:
        assert engine.names == ["weather_get_2", "weather_get"]
        assert (await call(engine, "weather_get_2")).text == "dotted"
        assert (await call(engine, "weather_get")).text == "plain"
        assert (await call(engine, "weather.get")).text == "dotted"


async def test_arguments_that_do_not_fit_never_reach_the_tool() -> None:
    tool = ForeignTool("weather", WEATHER)
    done = await call_once(tool, '{"city": ["Oban"]}')
    assert tool.calls == []
    assert done.result.is_error
    assert 'city: expected a string, got ["Oban"]' in done.text
    assert done.result.details["code"] == "invalid_params"
    assert done.result.details["arguments"] == '{"city": ["Oban"]}'


async def test_the_callers_arguments_are_not_the_tools() -> None:
    class Greedy(ForeignTool):
        async def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
            arguments["rows"].append(3)
            yield text_message("done")

    given = {"rows": [1, 2]}
    await call_once(Greedy("t", {"type": "object", "properties": {"rows": {"type": "array"}}}), given)
    assert given == {"rows": [1, 2]}


# ---------------------------------------------------------------- faults of tools


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionError("station offline"), "the tool t failed: ConnectionError: station offline"),
        (ValueError(), "the tool t failed: ValueError"),
        (KeyError("city"), "the tool t failed: KeyError: 'city'"),
        (ToolFailedError("ask again at six"), "the tool t failed: ask again at six"),
        (SystemExit(3), "the tool t failed: SystemExit: 3"),
        (asyncio.CancelledError(), "the tool t failed: CancelledError"),
        (TimeoutError("slow server"), "the tool t failed: TimeoutError: slow server"),
        (GeneratorExit(), "the tool t failed: GeneratorExit"),
        (
            ExceptionGroup("two", [ValueError("a"), KeyError("b")]),
            "the tool t failed: ExceptionGroup: two: ValueError: a; KeyError: 'b'",
        ),
    ],
)
async def test_whatever_a_tool_raises_is_a_result(error: BaseException, text: str) -> None:
    done = await call_once(ForeignTool("t", answers=[error]))
    assert (done.text, done.result.is_error) == (text, True)
    assert done.result.details["code"] == "tool_failed"


@pytest.mark.parametrize("kind", ["plain", "awaited", "generator", "async generator"])
@pytest.mark.parametrize("error", [ConnectionError("station offline"), StopIteration("x"), SystemExit(1)])
async def test_whatever_a_function_raises_is_a_result(kind: str, error: BaseException) -> None:
    def plain() -> None:
        raise error

    async def awaited() -> None:
        raise error

    def generator() -> Iterator[str]:
        yield "first "
        raise error

    async def agenerator() -> AsyncIterator[str]:
        yield "first "
        raise error

    functions: dict[str, Callable[..., object]] = {
        "plain": plain,
        "awaited": awaited,
        "generator": generator,
        "async generator": agenerator,
    }
    done = await call_once(functions[kind])
    assert done.result.is_error
    assert "failed: " in done.text
    assert ("before that it gave:\nfirst" in done.text) is ("generator" in kind)


async def test_an_errors_own_code_is_kept() -> None:
    done = await call_once(ForeignTool("t", answers=[QuotaExceededError("no searches left today")]))
    assert done.result.details["code"] == "quota_exceeded"
    assert done.text == "the tool t failed: no searches left today"


async def test_an_exception_without_a_text_of_its_own_is_named() -> None:
    class RudeError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert (await call_once(ForeignTool("t", answers=[RudeError()]))).text == "the tool t failed: RudeError"


async def test_what_is_no_message_is_taken_for_what_it_is() -> None:
    done = await call_once(ForeignTool("t", answers=["text", {"a": 1}, 7, None]))
    assert done.text == 'text\n{"a":1}\n7'


async def test_a_tool_that_gives_no_stream_at_all_is_a_fault_of_the_tool() -> None:
    class Wrong(ForeignTool):
        def invoke(self, arguments: dict[str, Any]) -> Any:
            return ["not a stream"]

    done = await call_once(Wrong("t"))
    assert done.text.startswith("the tool t failed: TypeError")


async def test_a_fault_of_the_clean_up_is_a_fault_of_the_tool() -> None:
    async def untidy() -> AsyncIterator[str]:
        try:
            yield "x"
        finally:
            raise RuntimeError("cannot tidy up")

    assert (await call_once(untidy)).text.startswith("the tool untidy failed: RuntimeError: cannot tidy up")


# ---------------------------------------------------------------- time


async def test_an_async_tool_is_stopped_when_its_time_is_up() -> None:
    stopped = asyncio.Event()

    async def sleeper() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return "never"

    done = await call_once(sleeper, limits=BRIEF)
    assert done.text == "the tool sleeper did not end within 0.2 s and was stopped; ask it for less, or go another way"
    assert done.result.details["code"] == "deadline"
    assert stopped.is_set()
    assert 0.2 <= done.result.seconds < 2


async def test_a_blocking_tool_is_abandoned_counted_and_forgotten_when_it_ends() -> None:
    go_on = threading.Event()

    def sleeper() -> None:
        go_on.wait(30)

    async with engine_of(sleeper, limits=BRIEF) as engine:
        done = await call(engine, "sleeper")
        assert done.result.details["code"] == "deadline"
        assert engine.abandoned == 1
        go_on.set()
        await until(lambda: engine.abandoned == 0)


async def test_the_entrys_time_wins_over_the_tools_and_that_over_the_engines() -> None:
    async def sleeper() -> None:
        await asyncio.sleep(60)

    foreign = ForeignTool("t", timeout=0.05)
    assert foreign.timeout == 0.05
    done = await call_once(ToolEntry(tool=sleeper, timeout=0.05, required=True), limits=ToolLimits(timeout=50))
    assert "within 0.05 s" in done.text


async def test_what_came_before_the_time_was_up_is_kept() -> None:
    async def half() -> AsyncIterator[str]:
        yield "the first half"
        await asyncio.sleep(60)

    done = await call_once(half, limits=BRIEF)
    assert done.shown == "the first half"
    assert done.text.endswith("before that it gave:\nthe first half")


async def test_a_slow_reader_costs_the_tool_no_time() -> None:
    async def quick() -> AsyncIterator[str]:
        for number in range(20):
            yield str(number)

    async with engine_of(quick, limits=BRIEF) as engine, aclosing(engine.invoke(ToolRequest("quick", "{}"))) as items:
        got = []
        async for item in items:
            await asyncio.sleep(0.02)  # 0.4 s in all, twice what the tool has
            got.append(item)
    assert len(got) == 21
    assert isinstance(got[-1], ToolResult)
    assert not got[-1].is_error


async def test_a_tool_is_never_far_ahead_of_its_reader() -> None:
    made = 0

    async def busy() -> AsyncIterator[str]:
        nonlocal made
        while True:
            made += 1
            yield "x"

    async with engine_of(busy) as engine, aclosing(engine.invoke(ToolRequest("busy", "{}"))) as items:
        for _ in range(10):
            await anext(items)
        await asyncio.sleep(0.02)
    assert made < 20


# ---------------------------------------------------------------- stopping


async def test_closing_the_stream_stops_the_tool() -> None:
    ended = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield "x"
                await asyncio.sleep(0)
        finally:
            ended.set()

    async with engine_of(endless) as engine:
        async with aclosing(engine.invoke(ToolRequest("endless", "{}"))) as items:
            await anext(items)
        assert ended.is_set()
        assert engine.abandoned == 0


async def test_cancelling_the_reader_stops_the_tool_and_is_passed_on() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def sleeper() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async with engine_of(sleeper) as engine:
        reader = asyncio.create_task(call(engine, "sleeper"))
        await started.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert ended.is_set()


async def test_closing_the_stream_closes_a_plain_generator_in_its_thread() -> None:
    ended = threading.Event()

    def endless() -> Iterator[str]:
        try:
            while True:
                yield "x"
        finally:
            ended.set()

    async with engine_of(endless) as engine:
        async with aclosing(engine.invoke(ToolRequest("endless", "{}"))) as items:
            await anext(items)
        await until(ended.is_set)
        await until(lambda: engine.abandoned == 0)


async def test_forty_stopped_calls_leave_nothing_behind() -> None:
    ended = []

    def ticking() -> Iterator[str]:
        try:
            while True:
                yield "x"
        finally:
            ended.append(1)

    async with engine_of(ticking, threads=4) as engine:
        for _ in range(40):
            async with aclosing(engine.invoke(ToolRequest("ticking", "{}"))) as items:
                for _ in range(3):
                    await anext(items)
        await until(lambda: len(ended) == 40)
        await until(lambda: engine.abandoned == 0)


async def test_a_tool_that_will_not_stop_is_left_to_itself_and_their_number_is_bounded() -> None:
    go_on = asyncio.Event()

    async def stubborn() -> None:
        while not go_on.is_set():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await go_on.wait()

    limits = ToolLimits(timeout=0.05, grace=0.05, strays=2)
    async with engine_of(stubborn, limits=limits) as engine:
        for _ in range(2):
            assert (await call(engine, "stubborn")).result.details["code"] == "deadline"
        refused = await call(engine, "stubborn")
        assert refused.result.details["code"] == "limit_exceeded"
        assert "2 calls were stopped and have not ended: stubborn (2)" in refused.text
        go_on.set()
        await until(lambda: engine.abandoned == 0)
        assert (await call(engine, "stubborn")).result.is_error is False


async def test_when_every_thread_is_held_by_calls_without_end_that_is_said_at_once() -> None:
    go_on = threading.Event()

    def sleeper() -> None:
        go_on.wait(30)

    def quick() -> str:
        return "quick"

    async with engine_of(sleeper, quick, limits=BRIEF, threads=2) as engine:
        await asyncio.gather(call(engine, "sleeper"), call(engine, "sleeper"))
        refused = await call(engine, "quick")
        assert refused.result.details["code"] == "limit_exceeded"
        assert (
            "all 2 threads for tools are held by calls that were given up and never ended: sleeper (2)" in refused.text
        )
        assert refused.result.seconds < 0.2
        go_on.set()
        await until(lambda: engine.abandoned == 0)
        assert (await call(engine, "quick")).text == "quick"


async def test_calls_wait_for_a_thread_to_come_free() -> None:
    def which() -> str:
        return threading.current_thread().name

    async with engine_of(which, threads=2) as engine:
        done = await asyncio.gather(*(call(engine, "which") for _ in range(50)))
    assert all(not one.result.is_error for one in done)


async def test_one_failing_call_loses_no_others_result() -> None:
    async def mixed(n: int) -> str:
        await asyncio.sleep(0.01)
        if n == 3:
            raise RuntimeError("three")
        return str(n)

    async with engine_of(mixed) as engine:
        done = await asyncio.gather(*(call(engine, "mixed", {"n": n}) for n in range(6)))
    assert [one.text for one in done] == ["0", "1", "2", "the tool mixed failed: RuntimeError: three", "4", "5"]


# ---------------------------------------------------------------- sizes


@pytest.mark.parametrize("size", [4 * MIB - 1, 4 * MIB, 6 * MIB])
async def test_large_texts_pass_whole_to_the_user(size: int) -> None:
    def big() -> str:
        return "x" * size

    done = await call_once(big)
    assert len(done.shown) == size
    assert not done.result.is_error
    assert len(done.text) < 66_000


@pytest.mark.parametrize("kind", ["text", "json", "generator"])
async def test_a_result_above_the_limit_is_an_error_that_names_size_and_limit(kind: str) -> None:
    def text() -> str:
        return "x" * (64 * MIB)

    def json() -> Any:
        return {"rows": ["x" * MIB] * 50}

    def generator() -> Iterator[str]:
        yield "small"
        yield "x" * (50 * MIB)

    async with engine_of(text, json, generator) as engine:
        done = await call(engine, kind)
        assert done.result.is_error
        assert done.result.details["code"] == "limit_exceeded"
        assert "bytes, above the limit of 8,388,608 bytes; ask it for less" in done.text
        assert {"text": "67,108,864", "json": "52,428,", "generator": "52,428,800"}[kind] in done.text
        assert len(done.text) < 300
        assert (await call(engine, "text")).result.is_error


@pytest.mark.parametrize("character", ["x", "é", "☃", "\U0001f600"])
async def test_a_long_text_is_cut_for_the_model_between_characters(character: str) -> None:
    def long() -> str:
        return character * 50_000

    done = await call_once(long, limits=ToolLimits(result_bytes=1_025))
    size = len(character.encode())
    kept, _, note = done.text.partition("\n[cut: ")
    assert set(kept) == {character}
    assert len(kept.encode()) == 1_025 // size * size
    assert note.startswith(
        f"the result has {50_000 * size:,} bytes, of which the first {len(kept.encode()):,} are shown"
    )
    assert done.shown == character * 50_000


async def test_many_small_texts_are_cut_as_one_long_one_is() -> None:
    async def many() -> AsyncIterator[str]:
        for _ in range(3_000):
            yield "abc"

    done = await call_once(many, limits=ToolLimits(result_bytes=2_000))
    assert done.text.startswith("abc" * 666 + "ab\n[cut: the result has 9,000 bytes, of which the first 2,000")
    assert len(done.messages) == 3_000


async def test_a_large_file_is_sent_in_parts_and_a_huge_one_is_refused() -> None:
    def picture(size: int) -> ToolInvokeMessage:
        return blob_message(b"\xff" * size, mime_type="image/png", filename="a.png")

    async with engine_of(picture, limits=ToolLimits(item_bytes=2 * MIB, file_bytes=5 * MIB)) as engine:
        small = await call(engine, "picture", {"size": 2 * MIB - 100})
        large = await call(engine, "picture", {"size": 4 * MIB + 1})
        huge = await call(engine, "picture", {"size": 6 * MIB})
    assert small.kinds == ["blob"]
    parts = [m.message for m in large.messages if isinstance(m.message, BlobChunkPayload)]
    assert len(parts) == len(large.messages) == 5
    assert [part.sequence for part in parts] == [0, 1, 2, 3, 4]
    assert [part.end for part in parts] == [False, False, False, False, True]
    assert {part.total_length for part in parts} == {4 * MIB + 1}
    assert b"".join(part.blob for part in parts) == b"\xff" * (4 * MIB + 1)
    assert large.text == "an image (a.png, image/png, 4,194,305 bytes) has been given to the user"
    assert huge.messages == []
    assert "gave a file of 6,291," in huge.text


# ---------------------------------------------------------------- what the model is told


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (text_message("  as it is "), "  as it is "),
        (json_message({"a": [1, None]}), '{"a":[1,null]}'),
        (json_message({"a": 1}, suppress_output=True), "the tool ran and gave no text"),
        (url_message("https://e.example/x"), "result link: https://e.example/x"),
        (
            url_message("https://e.example/a.png", "image"),
            "an image has been given to the user: https://e.example/a.png",
        ),
        (url_message("data:image/png;base64,AAAA", "image"), "an image has been given to the user"),
        (
            url_message("https://e.example/a.pdf", "binary_link"),
            "a file has been given to the user: https://e.example/a.pdf",
        ),
        (
            blob_message(b"abc", mime_type="text/csv", filename="t.csv"),
            "a file (t.csv, text/csv, 3 bytes) has been given to the user",
        ),
        (
            file_message({"id": "f1", "filename": "a.png", "mime_type": "image/png"}),
            "an image (a.png, image/png) has been given to the user",
        ),
        (variable_message("city", "Oban"), "the tool ran and gave no text"),
        (log_message("step"), "the tool ran and gave no text"),
        (retriever_message([{"content": "x"}], context="From the manual: x"), "From the manual: x"),
    ],
)
async def test_each_message_has_its_words_for_the_model_and_reaches_the_user_as_it_is(
    message: ToolInvokeMessage, text: str
) -> None:
    done = await call_once(ForeignTool("t", answers=[message]))
    assert done.text == text
    assert done.messages == [message]


async def test_texts_follow_one_another_and_other_kinds_stand_in_their_own_lines() -> None:
    answers = [
        text_message("a"),
        text_message("b"),
        url_message("https://e.example"),
        text_message("c"),
        json_message([1]),
    ]
    assert (await call_once(ForeignTool("t", answers=answers))).text == "ab\nresult link: https://e.example\nc\n[1]"


async def test_a_file_that_a_tool_sends_in_parts_is_noted_once() -> None:
    blob = b"x" * 2_500_000
    parts = list(in_parts(blob_message(blob, mime_type="application/pdf", filename="a.pdf")))
    done = await call_once(ForeignTool("t", answers=[*parts, text_message("there")]))
    assert done.messages[:-1] == parts
    assert done.text == "a file (a.pdf, application/pdf, 2,500,000 bytes) has been given to the user\nthere"


async def test_messages_are_made_fit_for_any_wire() -> None:
    surrogate = ToolInvokeMessage(MessageType.TEXT, TextPayload(text="a\ud800"), {"note": "\ud800"})
    odd = json_message({"big": 10**30, "tuple": (1, 2)})
    done = await call_once(ForeignTool("t", answers=[surrogate, odd]))
    assert not done.result.is_error
    assert done.messages[0].message == TextPayload(text="a\ufffd")
    assert done.messages[0].meta == {"note": "\ufffd"}
    assert done.text == 'a\ufffd\n{"big":1000000000000000000000000000000,"tuple":[1,2]}'


async def test_a_message_that_no_wire_can_carry_is_a_fault_of_the_tool() -> None:
    done = await call_once(ForeignTool("t", answers=[variable_message("v", object())]))
    assert done.result.is_error
    assert "the tool gave a variable message that is not JSON: $ holds a object" in done.text
