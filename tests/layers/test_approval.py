import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from enfilade.layers.approval import Approval
from enfilade.layers.petition import AskRecord
from enfilade.layers.petitions import MemoryPetitions
from enfilade.petition import Decision, Petition
from enfilade_sdk.errors import InternalError
from enfilade_sdk.messages import text_message
from enfilade_sdk.prompts import ToolRequest, ToolResult
from tests.layers.scenario import collected, hosted, run_layers, told, tool_inner

DELETE = ToolRequest("delete_note", '{"id": 7}', "c1")


class Says:
    """Gives the same answer to every petition, and keeps the petitions."""

    def __init__(self, answer: Decision | bool) -> None:
        self.answer = answer
        self.petitions: list[Petition] = []

    async def __call__(self, petition: Petition) -> Decision | bool:
        self.petitions.append(petition)
        return self.answer


def approval(ask: Any, **options: Any) -> Approval:
    return Approval(tools=("delete_*",), ask=ask, **options)


async def test_a_call_that_is_allowed_is_made() -> None:
    says, inner = Says(True), tool_inner([text_message("gone"), ToolResult("deleted")])
    items = await collected(run_layers([approval(says)]).tool_calls(inner.stream)(DELETE))
    assert [getattr(item, "text", "message") for item in items] == ["message", "deleted"]
    petition = says.petitions[0]
    assert (petition.tool, petition.arguments, petition.call_id) == ("delete_note", {"id": 7}, "c1")
    assert (petition.run_id, petition.user, petition.plugin, petition.strategy) == ("r1", "ada", "p", "s")
    assert petition.expires_at - petition.asked_at == 300


async def test_a_call_that_is_refused_is_not_made_and_the_model_is_told_why() -> None:
    inner = tool_inner()
    layers = run_layers([approval(Says(Decision(allowed=False, reason="the note is needed")))])
    [result] = await collected(layers.tool_calls(inner.stream)(DELETE))
    assert result.is_error
    assert result.text.startswith("the call of delete_note was not allowed: the note is needed. It was not made;")
    assert result.details["approval"] == "refused"
    assert inner.opened == 0


async def test_a_call_can_be_allowed_with_other_arguments_and_the_model_is_told_which() -> None:
    inner = tool_inner([ToolResult("deleted 8")])
    layers = run_layers([approval(Says(Decision(allowed=True, arguments={"id": 8})))])
    [result] = await collected(layers.tool_calls(inner.stream)(DELETE))
    assert inner.requests == [ToolRequest("delete_note", {"id": 8}, "c1")]
    assert result.text == '(the call was allowed with other arguments: {"id":8})\ndeleted 8'


async def test_an_approval_that_never_comes_is_a_no() -> None:
    inner = tool_inner()

    async def never(petition: Petition) -> bool:
        await asyncio.Event().wait()
        return True

    layers = run_layers([approval(never, timeout=0.05)])
    [result] = await collected(layers.tool_calls(inner.stream)(DELETE))
    assert "was not allowed: nobody answered within 0.05 seconds" in result.text
    assert inner.opened == 0


async def test_other_tools_are_not_asked_about() -> None:
    says, inner = Says(False), tool_inner()
    layers = run_layers([approval(says)])
    await collected(layers.tool_calls(inner.stream)(ToolRequest("read_note", "{}")))
    assert (says.petitions, inner.opened) == ([], 1)


async def test_what_is_shown_is_what_is_called() -> None:
    """Two keys of one name are read differently by different readers."""
    says, inner = Says(True), tool_inner()
    request = ToolRequest("delete_note", '{"id": 1, "id": 2}')
    await collected(run_layers([approval(says)]).tool_calls(inner.stream)(request))
    assert inner.requests[0].arguments == says.petitions[0].arguments == {"id": 2}


async def test_arguments_that_are_no_object_are_shown_as_they_are() -> None:
    says, inner = Says(True), tool_inner()
    await collected(run_layers([approval(says)]).tool_calls(inner.stream)(ToolRequest("delete_note", "{oops")))
    assert inner.requests[0].arguments == says.petitions[0].arguments == "{oops"


def test_nothing_of_a_call_can_be_hidden_from_whoever_is_asked() -> None:
    petition = Petition("i", "r", "u", "p", "s", None, "delete", "c", {"path": "a\x1b[2Kb\r\u202ec"}, 0, 1)
    assert petition.shown == r'delete {"path": "a\u001b[2Kb\r\u202ec"}'
    raw = Petition("i", "r", "u", "p", "s", None, "delete", "c", "\x1b[2K\r{}", 0, 1)
    assert raw.shown == r"delete \x1b[2K\r{}"


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_a_record_can_be_answered_while_the_run_waits(isolation: Any) -> None:
    record = MemoryPetitions()
    agent = told(["calculator", {"expression": "1+1"}], tools=["calculator"])
    layer = Approval(tools=("calculator",), ask=AskRecord(record))
    async with hosted([layer], isolation=isolation) as host, asyncio.timeout(10):
        run = asyncio.create_task(host.ask(agent, "?"))
        [petition] = await record.until()
        assert record.decide(petition.id, Decision(allowed=True, arguments={"expression": "2*2"}))
        assert not record.decide(petition.id, Decision(allowed=False))
        outcome = await run
    assert outcome.text.endswith("4")
    assert outcome.rounds[0].calls[0].arguments == {"expression": "2*2"}
    assert record.waiting() == []


async def test_a_record_that_nobody_answers_is_a_no_when_its_time_is_over() -> None:
    record = MemoryPetitions()
    inner = tool_inner()
    call = run_layers([Approval(tools=("*",), ask=AskRecord(record), timeout=0.05)]).tool_calls(inner.stream)
    [result] = await collected(call(ToolRequest("delete", "{}")))
    assert result.text.startswith("the call of delete was not allowed: nobody answered within 0.05 seconds.")
    assert (inner.opened, record.waiting()) == (0, [])


async def test_a_petition_of_a_cancelled_run_is_taken_off_the_record() -> None:
    record = MemoryPetitions()
    agent = told({"say": "x"}, ["calculator", {"expression": "1+1"}], tools=["calculator"])
    async with hosted([Approval(tools=("*",), ask=AskRecord(record))]) as host, asyncio.timeout(10):
        run = host.run(agent, "?")
        await anext(aiter(run))
        [petition] = await record.until()
        await run.aclose()
    assert record.waiting() == []
    assert not record.decide(petition.id, Decision(allowed=True))


async def test_calls_at_once_wait_for_words_of_their_own() -> None:
    record = MemoryPetitions()
    layers = run_layers([Approval(tools=("*",), ask=AskRecord(record))])
    inner = tool_inner()
    call = layers.tool_calls(inner.stream)
    waits = [asyncio.create_task(collected(call(ToolRequest(f"t{number}", "{}")))) for number in range(3)]
    async with asyncio.timeout(5):
        for petition in await record.until(3):
            record.decide(petition.id, Decision(allowed=petition.tool == "t1"))
        results = await asyncio.gather(*waits)
    assert [items[-1].is_error for items in results] == [True, False, True]
    assert inner.opened == 1


@pytest.mark.parametrize(("fault", "text"), [("yes", "got a str"), (ZeroDivisionError("oh"), "ZeroDivisionError: oh")])
async def test_an_asker_that_is_broken_allows_nothing_and_fails_the_run(fault: Any, text: str) -> None:
    async def broken(petition: Petition) -> Any:
        if isinstance(fault, Exception):
            raise fault
        return fault

    layers, inner = run_layers([approval(broken)]), tool_inner()
    with pytest.raises(InternalError, match=f"the layer approval failed with .*{text}"):
        await collected(layers.tool_calls(inner.stream)(DELETE))
    assert inner.opened == 0
    assert layers.interruption.error is not None


def test_an_approval_of_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least 1 item"):
        Approval(tools=(), ask=Says(True))
