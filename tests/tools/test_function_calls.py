"""A function as it is called: in which thread, and what its values come to."""

import asyncio
import contextvars
import datetime as dt
import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from enfilade.tools.entry import ToolEntry
from enfilade_sdk.errors import ToolFailedError
from enfilade_sdk.messages import (
    BlobPayload,
    JsonPayload,
    MessageType,
    ToolInvokeMessage,
    json_message,
    text_message,
    url_message,
)
from tests.support.tool_calls import call, call_once, engine_of
from tests.tools.signatures import Counter, Place, Span, Unit, properties_of


async def test_methods_partials_and_callable_objects_are_functions_too() -> None:
    counter = Counter()
    async with engine_of(
        counter, counter.twice, ToolEntry(tool=functools.partial(counter.twice, by=5), name="ten")
    ) as engine:
        assert engine.names == ["Counter", "twice", "ten"]
        assert [tool.description for tool in engine.menu()] == ["Counts.", "Counts two times.", "Counts two times."]
        assert (await call(engine, "Counter")).text == "1"
        assert (await call(engine, "twice", {"by": 2})).text == "5"
        assert (await call(engine, "ten", {})).text == "15"


async def test_a_decorated_function_keeps_its_signature() -> None:
    def shout(function: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> str:
            return function(*args, **kwargs).upper()

        return inner

    @shout
    def greet(name: str) -> str:
        """Greets."""
        return f"hello {name}"

    assert properties_of(greet) == {"name": {"type": "string"}}
    assert (await call_once(greet, "ann")).text == "HELLO ANN"


async def test_plain_functions_run_in_threads_and_async_ones_on_the_loop() -> None:
    def plain() -> str:
        return threading.current_thread().name

    async def awaited() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    here = threading.current_thread().name
    assert (await call_once(plain)).text != here
    assert (await call_once(awaited)).text == here


async def test_blocking_functions_run_side_by_side() -> None:
    both = threading.Barrier(5, timeout=5)

    def meet() -> int:
        return both.wait()

    async with engine_of(meet) as engine:
        done = await asyncio.gather(*(call(engine, "meet") for _ in range(5)))
    assert sorted(one.text for one in done) == ["0", "1", "2", "3", "4"]


async def test_context_variables_reach_the_thread() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")

    def who() -> str:
        return user.get("nobody")

    user.set("ann")
    assert (await call_once(who)).text == "ann"


def steps(n: int) -> Iterator[str]:
    for number in range(n):
        yield f"{number} "


async def async_steps(n: int) -> AsyncIterator[str]:
    for number in range(n):
        yield f"{number} "


@pytest.mark.parametrize("function", [steps, async_steps])
async def test_generators_give_one_message_after_the_other(function: Callable[..., object]) -> None:
    done = await call_once(function, {"n": 3})
    assert done.kinds == [MessageType.TEXT] * 3
    assert done.text == "0 1 2 "


async def test_a_plain_function_that_gives_back_a_coroutine_is_awaited() -> None:
    async def inner() -> str:
        return "awaited"

    def outer() -> Any:
        return inner()

    assert (await call_once(outer)).text == "awaited"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", "the tool ran and gave no text"),
        (None, "the tool ran and gave no text"),
        ("  as it is\n", "  as it is\n"),
        (0, "0"),
        (2.50, "2.5"),
        (10**30, "1000000000000000000000000000000"),
        (float("nan"), "nan"),
        (True, "true"),
        ({"b": 1, "a": [None, "é"]}, '{"b":1,"a":[null,"é"]}'),
        ([1, "x"], '[1,"x"]'),
        ((1, 2), "[1,2]"),
        ({7}, "[7]"),
        (range(3), "[0,1,2]"),
        ({}, "{}"),
        ([], "[]"),
        ({1: "a"}, '{"1":"a"}'),
        ({"n": 10**30}, '{"n":1000000000000000000000000000000}'),
        ({"n": float("inf")}, '{"n":null}'),
        (Place(name="Oban"), '{"name":"Oban","inside":null}'),
        (Span(1), '{"start":1,"end":9}'),
        ([Span(1), Place(name="x")], '[{"start":1,"end":9},{"name":"x","inside":null}]'),
        (Unit.METRIC, "metric"),
        (dt.date(2026, 11, 30), "2026-11-30"),
        (Decimal("1.50"), "1.50"),
        (b"caf\xc3\xa9", "café"),
        ("a\ud800b", "a\ufffdb"),
        ({"t": "\ud800", "\ud800": 1}, '{"t":"\ufffd","\ufffd":1}'),
        ({"type": "error", "message": {"text": "x"}}, '{"type":"error","message":{"text":"x"}}'),
        ({"type": "text", "message": "x"}, '{"type":"text","message":"x"}'),
        ({"type": "text", "message": {"text": "x"}}, "x"),
        (text_message("x"), "x"),
        ([text_message("x"), json_message({"a": 1})], 'x\n{"a":1}'),
    ],
)
async def test_every_kind_of_value_has_a_text_for_the_model(value: Any, text: str) -> None:
    def give() -> Any:
        return value

    done = await call_once(give)
    assert (done.text, done.result.is_error) == (text, False)


async def test_bytes_that_are_no_text_are_a_file_for_the_user() -> None:
    def give() -> bytes:
        return b"\x89PNG\r\n\x1a\n\xff"

    done = await call_once(give)
    assert done.text == "an image (image/png, 9 bytes) has been given to the user"
    [message] = done.messages
    assert isinstance(message.message, BlobPayload)
    assert message.message.blob == give()
    assert message.meta == {"mime_type": "image/png"}


async def test_bytes_inside_json_that_are_no_text_are_base64() -> None:
    def give() -> Any:
        return {"raw": b"\xff\xfe"}

    [message] = (await call_once(give)).messages
    assert isinstance(message.message, JsonPayload)
    assert message.message.json_object == {"raw": "__4="}


async def test_a_value_that_holds_itself_is_an_error_result() -> None:
    def give() -> Any:
        value: list[Any] = []
        value.append(value)
        return value

    done = await call_once(give)
    assert done.result.is_error
    assert "the tool gave back a list that cannot be written as JSON" in done.text


async def test_a_generator_may_mix_what_it_gives() -> None:
    def give() -> Iterator[Any]:
        yield "text"
        yield {"a": 1}
        yield url_message("https://e.example/x")
        yield b"\xff"
        yield None
        yield 7

    done = await call_once(give)
    assert done.kinds == ["text", "json", "link", "blob", "text"]
    assert done.text == (
        'text\n{"a":1}\nresult link: https://e.example/x\n'
        "a file (application/octet-stream, 1 bytes) has been given to the user\n7"
    )


class Foreign:
    """A message of another library, with the members of ours."""

    def __init__(self, kind: str, message: object) -> None:
        self.type = kind
        self.message = message


async def test_messages_of_other_libraries_are_understood_by_their_form() -> None:
    def give(good: bool) -> object:
        return Foreign("text", {"text": "x"} if good else {"words": "x"})

    async with engine_of(give) as engine:
        assert (await call(engine, "give", {"good": True})).text == "x"
        bad = await call(engine, "give", {"good": False})
    assert bad.result.is_error
    assert "what the tool gave back is no message" in bad.text


async def test_a_tool_chooses_its_own_words_for_the_model_by_raising_a_tool_error() -> None:
    def give() -> ToolInvokeMessage:
        raise ToolFailedError("the station sleeps until six; ask again then")

    assert (await call_once(give)).text == "the tool give failed: the station sleeps until six; ask again then"


async def test_a_type_that_json_schema_cannot_tell_is_refused_by_the_function_itself() -> None:
    def f(day: dt.date) -> str:
        return str(day)

    done = await call_once(f, "tomorrow")
    assert done.result.is_error
    assert done.result.details["code"] == "invalid_params"
    assert "- day: Input should be a valid date" in done.text
