"""What an author did wrong is said so that it can be mended."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from enfilade_sdk.call import Call
from enfilade_sdk.contract import describe
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.messages import MessageError, message_of
from enfilade_sdk.prompts import ModelChunk, ModelResult, prompts_of


class Says:
    def invoke(self, *, params: dict[str, Any]) -> Iterator[str]:
        yield str(params)


class Raising(Says):
    def get_parameters(self) -> list[Any]:
        raise ValueError("boom")


class Wanting(Says):
    def get_parameters(self, what: str) -> list[Any]:
        return [what]


class Naming(Says):
    def get_parameters(self) -> dict[str, str]:
        return {"query": "string"}


class Listing(Says):
    def get_parameters(self) -> list[str]:
        return ["query"]


def a_function(*, params: dict[str, Any]) -> Iterator[str]:
    yield str(params)


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (Raising(), "found it raised ValueError: boom; mend it"),
        (Wanting(), "missing 1 required positional argument: 'what'; give its arguments defaults"),
        (Naming(), "expected get_parameters() to return a list of parameters; found a dict; return a list or tuple"),
        (Listing(), "expected of parameter 1: an AgentStrategyParameter"),
        (
            a_function,
            "get_parameters() and invoke(*, params, ...); found a function; put it into a class as its invoke",
        ),
    ],
)
def test_the_fault_of_a_strategy_says_what_to_do(strategy: object, words: str) -> None:
    (fault,) = describe(strategy).faults
    assert words in str(fault)


def test_a_chunk_that_is_yielded_as_it_is_has_its_text_named() -> None:
    with pytest.raises(MessageError, match=r"yielded a ModelChunk; .*; its text is in \.text"):
        message_of(ModelChunk(text="hi"))


@pytest.mark.parametrize("messages", ["hello", {"role": "user", "content": "hello"}])
def test_what_is_no_list_of_prompt_messages_is_told_in_one_line(messages: Any) -> None:
    with pytest.raises(EnfiladeError, match=r"messages: expected a list of prompt messages, got a (str|dict); write"):
        prompts_of(messages)


async def nothing() -> AsyncIterator[ModelChunk | ModelResult]:
    yield ModelChunk(text="")


async def test_a_member_of_a_result_that_is_looked_for_on_the_call_is_told_where_it_is() -> None:
    call: Call[ModelChunk, ModelResult] = Call(nothing(), ModelResult, asyncio.get_running_loop())
    with pytest.raises(AttributeError, match=r"has no 'text'; what it gave is `call\.result\(\)`"):
        call.text  # type: ignore[attr-defined]  # noqa: B018 - that there is none is what is tested
    assert not hasattr(call, "text")
