"""What authors write who import nothing of ours: dataclasses, named tuples, enums of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import pytest

from enfilade_sdk.contract import describe
from enfilade_sdk.messages import MessageError, TextPayload, message_of, text_message


class Kind(Enum):
    SELECT = "select"
    TEXT = "text"


@dataclass
class Choice:
    value: str
    label: str | None = None


@dataclass(slots=True)
class SlottedChoice:
    value: str
    label: str | None = None


class TupledChoice(NamedTuple):
    value: str
    label: str | None = None


@dataclass(slots=True)
class Declared:
    name: str
    type: Kind
    options: tuple[Any, ...] = ()
    default: str | None = None
    required: bool = False


class DeclaredTuple(NamedTuple):
    name: str
    type: Kind
    options: tuple[Any, ...] = ()


@dataclass
class Text:
    text: str


@dataclass(slots=True)
class SlottedText:
    text: str


class TupledText(NamedTuple):
    text: str


@dataclass
class Said:
    type: Kind | str
    message: Any
    meta: Any = None


class Declaring:
    def __init__(self, *parameters: object) -> None:
        self._parameters = parameters

    def get_parameters(self) -> list[object]:
        return list(self._parameters)

    def invoke(self, params: dict[str, Any]) -> Any:
        yield params


@pytest.mark.parametrize("choice", [Choice, SlottedChoice, TupledChoice, lambda value: {"value": value, "label": None}])
@pytest.mark.parametrize("declared", [Declared, DeclaredTuple])
def test_parameters_may_be_of_any_make(declared: Callable[..., Any], choice: Callable[[str], Any]) -> None:
    description = describe(Declaring(declared("mood", Kind.SELECT, (choice("calm"), choice("wild")))))
    assert not description.faults
    assert [parameter.choices for parameter in description.parameters] == [("calm", "wild")]


def test_each_fault_of_each_parameter_is_a_fault_of_the_strategy() -> None:
    faults = describe(Declaring({"name": "a b", "type": "string"}, {"name": "x", "type": "strnig"})).faults
    assert [fault.expected.partition(" to be ")[0] for fault in faults] == [
        "of the parameter a b: name",
        "of the parameter x: type",
    ]
    assert [(fault.found, fault.remedy) for fault in faults] == [
        ("the text 'a b'", "rename the parameter"),
        ("the text 'strnig'", "did you mean 'string'?"),
    ]


@pytest.mark.parametrize("payload", [Text("hi"), SlottedText("hi"), TupledText("hi"), {"text": "hi"}])
@pytest.mark.parametrize("kind", ["text", Kind.TEXT])
def test_messages_may_be_of_any_make(kind: object, payload: object) -> None:
    assert message_of({"type": kind, "message": payload}) == text_message("hi")
    assert message_of(Said(kind, payload, Text("of the meta"))) == text_message("hi", meta={"text": "of the meta"})  # type: ignore[arg-type]
    assert isinstance(message_of(Said(kind, payload)).message, TextPayload)  # type: ignore[arg-type]


@pytest.mark.parametrize("payload", [5, "hi", ["hi"]])
def test_what_is_no_payload_is_named(payload: object) -> None:
    with pytest.raises(MessageError, match="a strategy yielded a message that is not valid: type 'text': message: "):
        message_of({"type": "text", "message": payload})
