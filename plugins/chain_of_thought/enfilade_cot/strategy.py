"""Chain of thought: thought, action, observation as text, for models that cannot call tools."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, ClassVar

from enfilade_cot.calls import tool_calls
from enfilade_cot.events import Action, Answer, ParseError
from enfilade_cot.labels import ANSWERING, CHINESE, ENGLISH
from enfilade_cot.parameters import PARAMETERS
from enfilade_cot.parser import Parser
from enfilade_cot.prompt import STOP, STOP_CHINESE, Prompt
from enfilade_cot.reply import Reply
from enfilade_cot.scratchpad import Scratchpad
from enfilade_cot.template import EMPTY
from enfilade_sdk.errors import AgentMaxIterationError, ModelFailedError
from enfilade_sdk.messages import LogStatus, ToolInvokeMessage, finish_log, log_message, text_message
from enfilade_sdk.prompts import AssistantMessage, ModelResult, ToolCall
from enfilade_sdk.rounds import Round, ToolRound, close_thought, limit_reached, round_log, rounds_of, thought_log
from enfilade_sdk.session import ModelCall, Session
from enfilade_sdk.strategy import AgentStrategy

CUT_THOUGHT = (
    "it was cut off by its length limit before an action or an answer; think more briefly and write an Action or a "
    "Final Answer"
)


class ChainOfThoughtStrategy(AgentStrategy):
    """The loop for models that write their actions as text (ReAct)."""

    name = "chain-of-thought"
    label = "Chain of thought"
    description = "Describes the tools in the prompt, reads the model's actions out of its text, and runs them."
    features: ClassVar[tuple[str, ...]] = ("history", "files", "parallel-tools")
    parameters = PARAMETERS

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs the loop."""
        async for message in _ChainOfThoughtRun(params, session).messages():
            yield message


class _ChainOfThoughtRun:
    """One run's work so far, and the model's last reply."""

    def __init__(self, params: dict[str, Any], session: Session) -> None:
        self._params = params
        self._session = session
        self._menu = session.tools.list()
        self._prompt = Prompt(session, params["template"], params["instruction"], params["query"])
        self._scratchpad = Scratchpad()
        self._reply = Reply(0)
        self._calls: tuple[ToolCall, ...] = ()
        self._result = ModelResult(AssistantMessage())
        self._asked_again = False

    async def messages(self) -> AsyncGenerator[ToolInvokeMessage, None]:
        for round_ in rounds_of(self._params["max_iteration"]):
            log = round_log(round_)
            yield log
            async for message in self._think(round_, log):
                yield message
            if not self._calls and self._reply.error is None:
                for message in self._rest():
                    yield message
                yield finish_log(log)
                return
            if round_.last:
                yield finish_log(log, error=self._limit(round_).message)
                for message in self._stop_at_limit(round_):
                    yield message
                return
            async for message in self._act(log):
                yield message
            yield finish_log(log)

    # ------------------------------------------------------------ the model

    async def _think(self, round_: Round, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Asks the model; a reply without anything in it is asked for once more in the whole run."""
        async for message in self._ask(round_, log):
            yield message
        if self._is_empty() and not self._asked_again:
            self._asked_again = True
            self._scratchpad.add(EMPTY)
            async for message in self._ask(round_, log):
                yield message
        if self._is_empty() and not self._reply.thought:
            raise self._empty_error()

    async def _ask(self, round_: Round, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        thought = thought_log(self._session, log)
        yield thought
        self._reply = reply = Reply(round_.number, direct=not self._menu)
        parser = self._parser()
        call = self._call(round_)
        async for chunk in call:
            if chunk.reasoning:
                yield text_message(chunk.reasoning, meta={"round": round_.number, "reasoning": True})
            for message in reply.take(parser.feed(chunk.text), labelled=parser.labelled):
                yield message
        self._result = await call
        cut = self._result.finish_reason == "length"
        for message in reply.take(parser.finish(cut), labelled=parser.labelled):
            yield message
        for message in self._read_reasoning(cut=cut):
            yield message
        self._settle(round_, thought_cut=cut and (parser.labelled or bool(self._scratchpad.text)))
        yield self._closed(thought)
        if reply.error is not None:
            yield _format_error(reply.error, log)

    def _read_reasoning(self, *, cut: bool) -> list[ToolInvokeMessage]:
        """A reply that is all reasoning was perhaps never closed: its last action or answer counts after all."""
        reply, reasoning = self._reply, self._result.message.reasoning
        if cut or not reasoning or not self._is_mute:
            return []
        parser = self._parser(thinking=True)
        events = [*parser.feed(reasoning), *parser.finish()]
        return list(reply.take([e for e in events if isinstance(e, Action | Answer | ParseError)], labelled=True))

    def _parser(self, *, thinking: bool = False) -> Parser:
        labels = ENGLISH + CHINESE if self._params["chinese_labels"] else ENGLISH
        if not self._menu:
            labels = ANSWERING
        menu = {tool.name: tool.parameters for tool in self._menu}
        return Parser(menu, labels=labels, thinking=thinking or self._params["starts_thinking"])

    def _call(self, round_: Round) -> ModelCall:
        info = self._session.model.info
        form = self._params["form"]
        completion = info.completion if form == "auto" else form == "completion"
        make = self._prompt.completion if completion else self._prompt.chat
        messages = make(self._scratchpad, last=round_.last, forbid=self._params["last_round"] == "forbid")
        stop = STOP_CHINESE if self._params["chinese_labels"] else STOP
        if completion:
            stop = (*stop, "\nQuestion:")
        wanted = stop if info.stop_words and self._menu else ()
        return self._session.model.invoke(messages, stop=wanted, completion=completion)

    def _settle(self, round_: Round, *, thought_cut: bool) -> None:
        """Decides what the reply comes to; calls that the model made in its own way are calls as well."""
        reply = self._reply
        self._calls = tool_calls(reply.actions, self._menu, round_.number)
        if not self._calls and reply.error is None:
            self._calls = self._result.message.tool_calls
        if thought_cut and not self._calls and not reply.answered and reply.error is None:
            reply.error = ParseError(CUT_THOUGHT, "")

    def _closed(self, thought: ToolInvokeMessage) -> ToolInvokeMessage:
        message = self._result.message.model_copy(update={"tool_calls": self._calls})
        closed = close_thought(thought, replace(self._result, message=message))
        return finish_log(closed, metadata=self._reply.noted)

    @property
    def _is_mute(self) -> bool:
        reply = self._reply
        silent = not (reply.actions or reply.error or reply.began_answer or reply.thought)
        return silent and not self._result.message.tool_calls

    def _is_empty(self) -> bool:
        """Whether there is nothing to go on with; a thought will do, unless an empty answer follows it."""
        reply = self._reply
        thought = reply.thought and not reply.began_answer
        return not (self._calls or reply.error or reply.answered or thought)

    def _empty_error(self) -> ModelFailedError:
        what = "it only reasoned" if self._reply.reasoned or self._result.message.reasoning else "there was no text"
        return ModelFailedError(
            f"the model's reply was empty ({what}): expected an action or an answer; it was asked once more in vain "
            f"(finish reason {self._result.finish_reason!r})",
            details={"finish_reason": self._result.finish_reason},
        )

    # ------------------------------------------------------------ what follows from it

    def _rest(self) -> list[ToolInvokeMessage]:
        """The answer of a reply that has none of its own: its thought."""
        reply = self._reply
        return [] if reply.answered or reply.shown else [reply.tell(reply.thought)]

    async def _act(self, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        reply = self._reply
        if reply.error is not None and not self._calls:
            self._scratchpad.failed(reply.thought, reply.error.raw, reply.error.reason)
            return
        tools = ToolRound(self._session, self._calls, log, int(self._params["parallel_tools"]))
        async for message in tools.run():
            yield message
        self._scratchpad.acted(reply.thought, self._calls, tools.results)

    # ------------------------------------------------------------ the limit

    def _limit(self, round_: Round) -> AgentMaxIterationError:
        limit = limit_reached(round_.number - 1)
        if self._calls or self._reply.error is None:
            return limit
        text = f"{limit.message} (its last reply could not be used: {self._reply.error.reason})"
        return AgentMaxIterationError(text, details=limit.details)

    def _stop_at_limit(self, round_: Round) -> list[ToolInvokeMessage]:
        if self._params["on_limit"] == "raise":
            raise self._limit(round_)
        reply = self._reply
        messages = self._rest() if reply.thought else []
        if self._params["on_limit"] == "answer":
            lead = "\n\n" if reply.answered or reply.shown else ""
            text = f"{lead}The limit of {round_.number - 1} rounds with tools was reached before the work was done."
            messages.append(reply.tell(text))
        return messages


def _format_error(error: ParseError, parent: ToolInvokeMessage) -> ToolInvokeMessage:
    log = log_message("FORMAT ERROR", parent=parent, status=LogStatus.ERROR, metadata={"kind": "format_error"})
    return finish_log(log, data={"raw": error.raw}, error=error.reason)
