import asyncio
import contextvars
import dataclasses
import datetime as dt
import enum
import functools
import sys
import threading
import typing
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal

import pydantic
import pytest

from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions import FunctionTool
from enfilade.tools.signature import SignatureError
from enfilade.tools.threads import Threads
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


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


class Place(pydantic.BaseModel):
    name: str
    inside: "Place | None" = None


class Tide(typing.TypedDict):
    height: float


@dataclasses.dataclass
class Span:
    start: int
    end: int = 9


def schema_of(function: Callable[..., object]) -> Any:
    return FunctionTool(function, Threads()).schema


def properties_of(function: Callable[..., object]) -> Any:
    return schema_of(function)["properties"]


def test_a_signature_and_its_docstring_make_the_schema() -> None:
    def weather(
        city: str, days: int = 3, unit: Literal["metric", "imperial"] = "metric", place: Place | None = None
    ) -> str:
        """Tells the weather.

        It looks some days ahead.

        Args:
            city: Where.
            days: How far
                to look.

        Returns:
            The weather in words.

        Raises:
            ValueError: Never.
        """
        return f"{city} {days} {unit} {place}"

    tool = FunctionTool(weather, Threads())
    assert tool.name == "weather"
    assert tool.description == "Tells the weather.\n\nIt looks some days ahead.\n\nReturns: The weather in words."
    assert tool.schema["required"] == ["city"]
    assert tool.schema["additionalProperties"] is False
    assert tool.schema["properties"]["city"] == {"type": "string", "description": "Where."}
    assert tool.schema["properties"]["days"] == {"type": "integer", "default": 3, "description": "How far to look."}
    assert tool.schema["properties"]["unit"] == {"type": "string", "enum": ["metric", "imperial"], "default": "metric"}


@pytest.mark.parametrize(
    "docstring",
    [
        "Adds.\n\nArgs:\n    a: The first.\n    b (int): The second.",
        "Adds.\n\nParameters\n----------\na : int\n    The first.\nb : int\n    The second.",
        "Adds.\n\n:param a: The first.\n:param int b: The second.\n:returns: The sum.",
    ],
)
def test_docstrings_of_every_style_are_read(docstring: str, caplog: pytest.LogCaptureFixture) -> None:
    def add(a, b):  # type: ignore[no-untyped-def]  # the types are not what is tested
        return a + b

    add.__doc__ = docstring
    tool = FunctionTool(add, Threads())
    assert tool.description.startswith("Adds.")
    assert tool.schema["properties"]["a"]["description"] == "The first."
    assert tool.schema["properties"]["b"]["description"] == "The second."
    assert caplog.records == []


def test_a_plain_docstring_is_the_description_and_none_is_empty() -> None:
    def plain() -> None:
        """Just words: nothing else."""

    def silent() -> None: ...

    assert FunctionTool(plain, Threads()).description == "Just words: nothing else."
    assert FunctionTool(silent, Threads()).description == ""


def test_words_at_the_parameter_win_over_those_of_the_docstring() -> None:
    def f(
        a: Annotated[int, pydantic.Field(ge=1, description="at a")],
        b: Annotated[str, "at b"],
        c: int = pydantic.Field(3, le=9, description="at c"),
        d: int = 4,
    ) -> None:
        """Does.

        Args:
            a: in the docstring
            b: in the docstring
            c: in the docstring
            d: in the docstring
        """

    properties = properties_of(f)
    assert properties["a"] == {"type": "integer", "minimum": 1, "description": "at a"}
    assert properties["b"] == {"type": "string", "description": "at b"}
    assert properties["c"] == {"type": "integer", "maximum": 9, "default": 3, "description": "at c"}
    assert properties["d"]["description"] == "in the docstring"


@pytest.mark.parametrize(
    ("annotation", "given", "got"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (bool, True, True),
        (list[int], [1], [1]),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[str], ["a", "a"], {"a"}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Unit, "metric", Unit.METRIC),
        (Literal["a", "b"], "b", "b"),
        (int | None, None, None),
        (typing.Optional[int], 4, 4),  # noqa: UP045 - people write it so
        (Place, {"name": "Oban", "inside": {"name": "Argyll"}}, Place(name="Oban", inside=Place(name="Argyll"))),
        (list[Place], [{"name": "Oban"}], [Place(name="Oban")]),
        (Span, {"start": 1}, Span(1)),
        (dt.date, "2026-11-30", dt.date(2026, 11, 30)),
        (dt.datetime, "2026-11-30T12:00:00Z", dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)),
        (Decimal, "1.50", Decimal("1.50")),
        (bytes, "ab", b"ab"),
        (Any, [1, {"a": None}], [1, {"a": None}]),
    ],
)
async def test_arguments_arrive_in_the_types_the_function_asks_for(annotation: Any, given: Any, got: Any) -> None:
    seen = []

    def take(value: Any) -> None:
        seen.append(value)

    take.__annotations__["value"] = annotation
    done = await call_once(take, {"value": given})
    assert not done.result.is_error, done.text
    assert seen == [got]
    assert type(seen[0]) is type(got)


async def test_every_kind_of_parameter_is_given_in_its_place() -> None:
    def f(a: int, /, b: int, *rest: int, c: int = 3, **more: int) -> dict[str, Any]:
        return {"a": a, "b": b, "rest": rest, "c": c, "more": more}

    async with engine_of(f) as engine:
        assert engine.menu()[0].parameters["required"] == ["a", "b"]
        full = await call(engine, "f", {"a": 1, "b": 2, "rest": [7, 8], "c": 4, "x": 5})
        least = await call(engine, "f", {"a": 1, "b": 2})
        wrong = await call(engine, "f", {"a": 1, "b": 2, "x": "five"})
    assert full.text == '{"a":1,"b":2,"rest":[7,8],"c":4,"more":{"x":5}}'
    assert least.text == '{"a":1,"b":2,"rest":[],"c":3,"more":{}}'
    assert 'x: expected an integer, got "five"' in wrong.text


def test_names_that_pydantic_keeps_for_itself_are_parameters_like_others() -> None:
    def f(model_config: int, _hidden: int, json: int, schema: int, copy: int) -> None: ...

    assert list(properties_of(f)) == ["model_config", "_hidden", "json", "schema", "copy"]


def test_a_type_is_taken_from_the_default_where_there_is_none() -> None:
    def f(a=3, b="x", c=True, d=None):  # type: ignore[no-untyped-def]  # that is the point
        return a, b, c, d

    assert {name: part.get("type") for name, part in properties_of(f).items()} == {
        "a": "integer",
        "b": "string",
        "c": "boolean",
        "d": None,
    }


async def test_a_parameter_that_no_model_can_give_is_left_to_its_default() -> None:
    def f(text: str, change: Callable[[str], str] = str.upper, worker: threading.Thread | None = None) -> str:
        return change(text) + str(worker)

    assert list(properties_of(f)) == ["text"]
    assert (await call_once(f, "abc")).text == "ABCNone"


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (Callable[[], int], "its parameter 'p' has the type"),
        (threading.Thread, "its parameter 'p' has the type Thread, which cannot be made from JSON"),
        ("Unheard", "its parameter 'p' has the type 'Unheard'"),
        pytest.param(
            Tide,
            "cannot be made from JSON; take TypedDict from typing_extensions on a Python before 3.12",
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic reads it there"),
        ),
    ],
)
def test_a_parameter_that_cannot_be_given_and_has_no_default_is_refused(annotation: Any, words: str) -> None:
    def f(p: Any) -> None: ...

    f.__annotations__["p"] = annotation
    with pytest.raises(SignatureError) as caught:
        FunctionTool(f, Threads())
    assert words in caught.value.message


def test_a_name_that_is_unknown_at_run_time_costs_only_its_own_parameter() -> None:
    def f(city: "str", days: "int" = 3, extra: "OnlyForTypeCheckers | None" = None) -> "OnlyForTypeCheckers": ...  # type: ignore[name-defined]  # noqa: F821

    assert properties_of(f) == {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}}


def test_a_lambda_needs_a_name_and_a_class_is_no_function() -> None:
    with pytest.raises(SignatureError, match="a lambda has no name"):
        FunctionTool(lambda: 1, Threads())
    assert FunctionTool(lambda: 1, Threads(), name="one").name == "one"
    with pytest.raises(SignatureError, match="Place is a class"):
        FunctionTool(Place, Threads())
    with pytest.raises(SignatureError, match=r"twice is a method of Counter without its object; give Counter\(...\)"):
        FunctionTool(Counter.twice, Threads())


class Counter:
    """Counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, by: int = 1) -> int:
        self.count += by
        return self.count

    def twice(self, by: int) -> int:
        """Counts two times."""
        return self(by * 2)


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
