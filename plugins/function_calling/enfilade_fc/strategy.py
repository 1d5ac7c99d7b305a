"""Function calling: the model asks for tools in its reply's own field, until it answers."""

from collections.abc import AsyncGenerator
from typing import Any, ClassVar

from enfilade_fc.parameters import PARAMETERS
from enfilade_fc.prompt import ASK_AGAIN, opening
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.messages import ToolInvokeMessage, finish_log, text_message
from enfilade_sdk.prompts import AssistantMessage, ModelResult, PromptMessage, PromptTool
from enfilade_sdk.rounds import Round, ToolRound, close_thought, limit_reached, round_log, rounds_of, thought_log
from enfilade_sdk.session import ModelCall, Session
from enfilade_sdk.strategy import AgentStrategy


class FunctionCallingStrategy(AgentStrategy):
    """The loop for models that can call tools."""

    name = "function-calling"
    label = "Function calling"
    description = "Offers the tools to the model, runs what it asks for, and goes on until it answers."
    features: ClassVar[tuple[str, ...]] = ("history", "files", "parallel-tools")
    parameters = PARAMETERS

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs the loop."""
        async for message in _FunctionCallingRun(params, session).messages():
            yield message


class _FunctionCallingRun:
    """One run's prompt as it grows, and the model's last reply."""

    def __init__(self, params: dict[str, Any], session: Session) -> None:
        self._params = params
        self._session = session
        self._prompt: list[PromptMessage] = opening(session, params["instruction"], params["query"])
        self._reply = ModelResult(AssistantMessage())
        self._asked_again = False

    async def messages(self) -> AsyncGenerator[ToolInvokeMessage, None]:
        for round_ in rounds_of(self._params["max_iteration"]):
            log = round_log(round_)
            yield log
            async for message in self._think(round_, log):
                yield message
            if not self._reply.message.tool_calls:
                yield finish_log(log)
                return
            if round_.last:
                yield finish_log(log, error=limit_reached(round_.number - 1).message)
                for message in self._stop_at_limit(round_):
                    yield message
                return
            async for message in self._act(log):
                yield message
            yield finish_log(log)

    async def _think(self, round_: Round, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Asks the model; a reply without text and without calls is asked for once more in the whole run."""
        async for message in self._ask(round_, log):
            yield message
        if self._is_empty() and not self._asked_again:
            self._asked_again = True
            self._prompt.append(ASK_AGAIN)
            async for message in self._ask(round_, log):
                yield message
        if self._is_empty():
            raise self._empty_error()

    async def _ask(self, round_: Round, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        thought = thought_log(self._session, log)
        yield thought
        tools, choice = self._menu(round_)
        call: ModelCall = self._session.model.invoke(self._prompt, tools=tools, tool_choice=choice)
        said = {"round": round_.number}
        reasoned = {"round": round_.number, "reasoning": True}
        async for chunk in call:
            if chunk.reasoning:
                yield text_message(chunk.reasoning, meta=reasoned)
            if chunk.text:
                yield text_message(chunk.text, meta=said)
        self._reply = await call
        yield close_thought(thought, self._reply)

    def _menu(self, round_: Round) -> tuple[tuple[PromptTool, ...], str | None]:
        tools = self._session.tools.list()
        if not round_.last:
            return tools, None
        return (tools, "none") if tools and self._params["last_round"] == "forbid" else ((), None)

    async def _act(self, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        reply = self._reply.message
        tools = ToolRound(self._session, reply.tool_calls, log, int(self._params["parallel_tools"]))
        async for message in tools.run():
            yield message
        self._prompt += [reply, *tools.results]

    def _stop_at_limit(self, round_: Round) -> list[ToolInvokeMessage]:
        limit = limit_reached(round_.number - 1)
        if self._params["on_limit"] == "raise":
            raise limit
        if self._params["on_limit"] == "partial":
            return []
        lead = "\n\n" if self._reply.message.content else ""
        text = f"{lead}The limit of {round_.number - 1} rounds with tools was reached before the work was done."
        return [text_message(text, meta={"round": round_.number})]

    def _is_empty(self) -> bool:
        message = self._reply.message
        return not message.tool_calls and not (message.content or "").strip()

    def _empty_error(self) -> ModelFailedError:
        what = "it only reasoned" if self._reply.message.reasoning else "there was no text and no tool call"
        return ModelFailedError(
            f"the model's reply was empty ({what}): expected an answer or a tool call; it was asked once more in vain "
            f"(finish reason {self._reply.finish_reason!r})",
            details={"finish_reason": self._reply.finish_reason},
        )
