"""The loop that strategies may build on."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from enfilade_sdk.errors import ErrorCode, ModelFailedError
from enfilade_sdk.invocation import File
from enfilade_sdk.loop import Loop
from enfilade_sdk.loop_parameters import loop_parameters
from enfilade_sdk.messages import ToolInvokeMessage, text_message
from enfilade_sdk.prompts import ImagePart, TextPart, UserMessage
from enfilade_sdk.question import question
from enfilade_sdk.rounds import Round, ToolRound
from enfilade_sdk.session import Session
from enfilade_sdk.strategy import AgentStrategy
from enfilade_sdk.testing import CallOf, StrategyRun, run_strategy


class Asking(Loop):
    """The least there can be: the question again and again, with what the tools said."""

    def __init__(self, params: dict[str, Any], session: Session) -> None:
        super().__init__(params, session)
        self.said = [str(params["query"])]

    async def ask(self, round_: Round, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        tools = () if round_.last else self.session.tools.list()
        self.result = await self.session.model.invoke([UserMessage(content="\n".join(self.said))], tools=tools)
        yield text_message(self.result.message.content or "")

    async def act(self, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        tools = ToolRound(self.session, self.result.message.tool_calls, log)
        async for message in tools.run():
            yield message
        self.said += [result.content for result in tools.results]

    def say_it_was_empty(self) -> None:
        self.said.append("Say something.")

    @property
    def goes_on(self) -> bool:
        return bool(self.result.message.tool_calls)

    @property
    def is_empty(self) -> bool:
        return not (self.goes_on or self.result.message.content)


class AskingStrategy(AgentStrategy):
    name = "asking"
    parameters = loop_parameters(instruction="Not used.", last_round="Not used.")

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
        async for message in Asking(params, session).messages():
            yield message


def tide(port: str) -> str:
    """Tells the tide."""
    return f"high at {port}"


def ask(*model: Any, **setup: Any) -> StrategyRun:
    return run_strategy(AskingStrategy, "Tide?", model=list(model), tools={"tide": tide}, **setup)


LOOK = CallOf("tide", {"port": "Oban"})


def test_it_asks_acts_and_asks_again_until_there_is_an_answer() -> None:
    run = ask(LOOK, "It is high.").check()
    assert run.answer == "It is high."
    assert [request.messages[0].content for request in run.requests] == ["Tide?", "Tide?\nhigh at Oban"]


def test_an_empty_reply_is_asked_for_once_more_in_a_run() -> None:
    run = ask("", "High.").check()
    assert run.requests[1].messages[0].content == "Tide?\nSay something."
    failed = ask("", "")
    assert isinstance(failed.error, ModelFailedError)
    assert "asked once more in vain" in failed.error.message


@pytest.mark.parametrize(("on_limit", "answer"), [("partial", ""), ("answer", "The limit of 1 rounds with tools was")])
def test_the_limit_ends_it_as_it_was_told(on_limit: str, answer: str) -> None:
    run = ask(LOOK, LOOK, params={"max_iteration": 1, "on_limit": on_limit}).check()
    assert run.answer.startswith(answer)
    assert len(run.requests) == 2


def test_the_limit_is_an_error_unless_told_otherwise() -> None:
    run = ask(LOOK, LOOK, params={"max_iteration": 1})
    assert run.error is not None
    assert run.error.code is ErrorCode.MAX_ITERATIONS


def test_a_question_shows_images_to_a_model_that_can_see_and_names_other_files() -> None:
    image, text = File(url="https://x/a.png", mime_type="image/png"), File(url="https://x/b.txt", filename="b.txt")
    parts = question("What?", [image, text], vision=True)
    assert isinstance(parts, list)
    shown, seen = parts
    assert isinstance(shown, TextPart)
    assert isinstance(seen, ImagePart)
    assert "b.txt" in shown.text
    assert "image/png" in str(question("What?", [image], vision=False))
    assert question("What?", [], vision=True) == "What?"
