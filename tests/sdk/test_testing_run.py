import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from enfilade_sdk.errors import (
    DeadlineExceededError,
    InternalError,
    InvalidParamsError,
    ModelFailedError,
    NotAdmittedError,
)
from enfilade_sdk.invocation import File, ModelInfo
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.parameters import AgentStrategyParameter
from enfilade_sdk.prompts import AssistantMessage, UserMessage
from enfilade_sdk.session import Session
from enfilade_sdk.strategy import AgentStrategy
from enfilade_sdk.testing import (
    CallOf,
    RecordedCall,
    ScriptedModel,
    ScriptedTools,
    ScriptError,
    StrategyHangsError,
    StrategyRun,
    Turn,
    run_strategy,
    run_strategy_async,
)


class Looker(AgentStrategy):
    """Asks the model, calls what it asks for, says what it says."""

    parameters = (
        AgentStrategyParameter.model_validate({"name": "query", "type": "string", "required": True}),
        AgentStrategyParameter.model_validate({"name": "rounds", "type": "number", "default": 3, "min": 1}),
    )

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[ToolInvokeMessage | str]:
        prompt: list[Any] = [*session.history, UserMessage(content=params["query"])]
        for number in range(1, params["rounds"] + 1):
            log = self.create_log_message(f"round {number}")
            yield log
            call = session.model.invoke(prompt, tools=session.tools.list())
            async for chunk in call:
                if chunk.reasoning:
                    yield self.create_text_message(chunk.reasoning, meta={"reasoning": True})
                if chunk.text:
                    yield self.create_text_message(chunk.text, meta={"round": number})
            message = (await call).message
            prompt.append(message)
            for asked in message.tool_calls:
                result = await session.tools.invoke(asked.name, asked.arguments, call_id=asked.id)
                prompt.append({"role": "tool", "tool_call_id": asked.id, "content": result.text})
            yield self.finish_log_message(log)
            if not message.tool_calls:
                return


class PlainLooker:
    """The same in few words: a generator, nothing of the SDK, no declared parameters."""

    def get_parameters(self) -> list[dict[str, Any]]:
        return []

    def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:
        reply = session.model.invoke(
            [{"role": "user", "content": params["query"]}], tools=session.tools.list()
        ).result()
        for asked in reply.message.tool_calls:
            result = session.tools.invoke(asked.name, asked.arguments, call_id=asked.id).result()
            yield {"type": "text", "message": {"text": f"{asked.name} says {result.text}"}}
        yield reply.message.content or ""


WARM = [Turn(text="I look. ", reasoning="hm", calls=[CallOf("look", {"at": "sky"})]), ["21 ", "degrees"]]


@pytest.mark.parametrize("wired", [False, True])
def test_a_run_shows_everything_there_is_to_look_at(wired: bool) -> None:
    run = run_strategy(
        Looker, "How warm?", model=WARM, tools={"look": lambda at: f"21 at the {at}"}, wired=wired
    ).check()
    assert run.answer == "21 degrees"
    assert run.text == "I look. 21 degrees"
    assert run.reasoning == "hm"
    assert run.calls == [RecordedCall("look", {"at": "sky"}, "call_1")]
    assert [(log.label, log.status) for log in run.logs] == [("round 1", "success"), ("round 2", "success")]
    assert len(run.of_type("log")) == 4
    assert [message.content for message in run.requests[1].messages] == ["How warm?", "I look. ", "21 at the sky"]
    assert [tool.name for tool in run.requests[0].tools] == ["look"]
    assert run.refused == []


@pytest.mark.parametrize("wired", [False, True])
def test_a_generator_strategy_without_the_sdk_runs_as_well(wired: bool) -> None:
    run = run_strategy(PlainLooker(), "How warm?", model=[CallOf("look")], tools={"look": "21"}, wired=wired).check()
    assert run.answer == "look says 21"


async def test_the_async_form_runs_on_the_loop_that_is_there() -> None:
    there = asyncio.get_running_loop()

    async def look() -> str:
        assert asyncio.get_running_loop() is there
        return "21"

    run = await run_strategy_async(PlainLooker, "How warm?", model=[CallOf("look")], tools={"look": look})
    assert run.check().answer == "look says 21"


async def test_the_sync_form_works_beside_a_running_loop() -> None:
    assert run_strategy(PlainLooker, "x", model=["fine"]).check().answer == "fine"


def test_params_are_checked_and_completed_as_in_a_host() -> None:
    once = run_strategy(Looker, "x", model=[CallOf("look")], tools={"look": "y"}, params={"rounds": 1})
    assert len(once.check().requests) == 1
    wrong = run_strategy(Looker, "x", params={"rounds": 0, "ruonds": 1})
    assert isinstance(wrong.error, InvalidParamsError)
    assert "rounds: expected a number of at least 1" in wrong.error.message
    assert "did you mean 'rounds'?" in wrong.error.message
    assert wrong.messages == []


class Told:
    """Says what it was given."""

    def get_parameters(self) -> list[dict[str, Any]]:
        return [{"name": "model", "type": "model-selector"}, {"name": "tools", "type": "tools"}]

    def invoke(self, *, session: Any, **given: Any) -> Iterator[dict[str, Any]]:
        stored = session.storage.get("count").wait() or 0
        session.storage.set("count", stored + 1).wait()
        value = {
            **given,
            "history": len(session.history),
            "files": len(session.files),
            "vision": session.model.info.vision,
        }
        yield {"type": "json", "message": {"json_object": value}}
        yield {"type": "variable", "message": {"variable_name": "v", "variable_value": "a", "stream": True}}
        yield {"type": "variable", "message": {"variable_name": "v", "variable_value": "b", "stream": True}}
        yield {"type": "variable", "message": {"variable_name": "w", "variable_value": 1}}


def test_a_run_is_given_all_that_the_contract_has() -> None:
    storage: dict[str, Any] = {"count": 4}
    run = run_strategy(
        Told,
        "Q",
        model=ScriptedModel(info=ModelInfo(name="eye", vision=True)),
        tools=ScriptedTools({"look": "x"}),
        history=[{"role": "user", "content": "before"}, AssistantMessage(content="yes")],
        files=[File(url="https://e.org/a.png")],
        storage=storage,
        user_id="ann",
        conversation_id="c-1",
    ).check()
    [given] = run.json
    assert given["params"] == {"model": {"model": "eye"}, "tools": [{"name": "look"}], "query": "Q"}
    assert (given["user_id"], given["conversation_id"], given["message_id"]) == ("ann", "c-1", None)
    assert (given["history"], given["files"], given["vision"]) == (2, 1, True)
    assert run.variables == {"v": "ab", "w": 1}
    assert storage == {"count": 5}


class Raises:
    def get_parameters(self) -> list[dict[str, Any]]:
        return []

    def invoke(self, params: dict[str, Any]) -> Iterator[str]:
        yield "so far"
        raise KeyError("oops")


def test_a_failure_is_the_runs_error_and_what_was_delivered_stays() -> None:
    run = run_strategy(Raises, "x")
    assert isinstance(run.error, InternalError)
    assert "KeyError: 'oops'" in run.error.message
    assert run.answer == "so far"
    with pytest.raises(InternalError):
        run.check()


def test_a_models_failure_is_the_runs_error_with_its_code() -> None:
    run = run_strategy(Looker, "x", model=[Turn(text="Half", error=ModelFailedError("down", details={"status": 503}))])
    assert isinstance(run.error, ModelFailedError)
    assert run.error.details["status"] == 503
    assert run.text == "Half"


def test_a_class_that_needs_arguments_is_not_admitted() -> None:
    class NeedsMore(PlainLooker):
        def __init__(self, more: str) -> None:
            self.more = more

    run = run_strategy(NeedsMore, "x")
    assert isinstance(run.error, NotAdmittedError)


def test_a_script_that_is_too_short_fails_the_test_and_not_only_the_run() -> None:
    with pytest.raises(ScriptError, match="the model was asked 1 times more than its script has turns"):
        run_strategy(Looker, "x", model=[CallOf("look")], tools={"look": "y"})


def test_a_run_that_takes_too_long_is_cancelled() -> None:
    run = run_strategy(Looker, "x", model=[Turn(text="One ", hangs=True)], seconds=0.05)
    assert isinstance(run.error, DeadlineExceededError)
    assert run.text == "One "


def test_a_strategy_that_does_not_stop_when_cancelled_fails_the_test_within_the_bound() -> None:
    release = threading.Event()

    class Stubborn(PlainLooker):
        def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:
            yield "One "
            release.wait(30)

    try:
        with pytest.raises(StrategyHangsError, match=r"had 0.05 s, was cancelled, and did not stop within 0.1 s"):
            run_strategy(Stubborn, "x", seconds=0.05, grace=0.1)
    finally:
        release.set()


def test_the_answer_is_all_text_where_rounds_are_not_told_apart() -> None:
    assert StrategyRun().answer == ""
    run = run_strategy(PlainLooker, "x", model=[Turn(text="b", calls=[CallOf("look")])], tools={"look": "1"}).check()
    assert run.answer == run.text == "look says 1b"
