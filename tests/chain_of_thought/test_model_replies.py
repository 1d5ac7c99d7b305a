"""The way of a reply: the host's assembly, the parser, the calls."""

import json
from collections.abc import Iterable

import pytest

from enfilade.models.assembly import ReplyAssembly
from enfilade_cot.calls import tool_calls
from enfilade_cot.events import Action, Answer, Event, ParseError, spoken
from enfilade_cot.labels import CHINESE, ENGLISH
from enfilade_cot.parser import Parser
from enfilade_sdk.markup.kinds import ALL_MARKUPS
from enfilade_sdk.prompts import PromptTool, ToolCall
from tests.chain_of_thought.model_replies import Said, replies

REPLIES = replies()
MENU = {
    "search": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "calc": {"expression": {"type": "string"}},
    "get_weather": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "delete_note": {"id": {"type": "integer"}},
    "python": {"code": {"type": "string"}},
}
TOOLS = [
    PromptTool(
        name=name,
        description=name,
        parameters={"type": "object", "properties": properties, "required": [next(iter(properties))]},
    )
    for name, properties in MENU.items()
]


def read(chunks: Iterable[str], *, chinese: bool) -> tuple[str, ...]:
    """What comes of a reply of a request that offered no tools, as those of chain of thought do."""
    assembly = ReplyAssembly(markups=ALL_MARKUPS)
    labels = ENGLISH + CHINESE if chinese else ENGLISH
    parser = Parser({tool.name: tool.parameters for tool in TOOLS}, labels=labels)
    events: list[Event] = []
    for text in chunks:
        event = {"choices": [{"index": 0, "delta": {"content": text}}]}
        flowed = assembly.flow(event)
        came = None if flowed else assembly.feed(event)
        events += parser.feed(flowed or (came.text if came else ""))
    last = assembly.end()
    events += parser.feed(last.text if last else "")
    events += parser.finish()
    return told(events, assembly.message().tool_calls)


def told(events: list[Event], calls: Iterable[ToolCall]) -> tuple[str, ...]:
    acts = [event for event in events if isinstance(event, Action)]
    words = [
        f"{'call' if act.known else 'unknown'} {call.name} {arguments(call)}"
        for act, call in zip(acts, tool_calls(acts, TOOLS, 1), strict=True)
    ]
    words += ["error" for event in events if isinstance(event, ParseError)]
    if any(isinstance(event, Answer) for event in events):
        words.append("answer " + "".join(event.text for event in events if isinstance(event, Answer)))
    words = words or [f"call {call.name} {arguments(call)}" for call in calls]
    return tuple(words) or (f"text {spoken(events)}",)


def arguments(call: ToolCall) -> str:
    return call.arguments if call.parsed is None else json.dumps(call.parsed, ensure_ascii=False)


@pytest.mark.parametrize("said", REPLIES, ids=[said.name for said in REPLIES])
def test_a_model_s_way_of_writing_is_read_as_it_is_meant(said: Said) -> None:
    assert read([said.reply], chinese=said.chinese) == said.read
    assert read(said.reply, chinese=said.chinese) == said.read


def test_the_names_of_the_replies_are_different() -> None:
    assert len({said.name for said in REPLIES}) == len(REPLIES) > 200
