import datetime as dt
import sys
import threading
import typing
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal

import pydantic
import pytest

from enfilade.tools.functions.function import FunctionTool
from enfilade.tools.functions.signature import SignatureError
from enfilade.tools.functions.threads import Threads
from tests.support.tool_calls import call, call_once, engine_of
from tests.tools.signatures import Counter, Place, Span, Tide, Unit, properties_of


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
