"""Chain of thought: thought, action, observation as text, for models that cannot call tools."""

from collections.abc import AsyncGenerator, Iterator, Mapping
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
from enfilade_sdk.errors import AgentMaxIterationError
from enfilade_sdk.loop import Loop
from enfilade_sdk.messages import THOUGHT, LogStatus, ToolInvokeMessage, finish_log, log_message, text_message
from enfilade_sdk.prompts import ToolCall
from enfilade_sdk.rounds import Round, ToolRound, close_thought, limit_reached, thought_log
from enfilade_sdk.session import ModelCall, Session
from enfilade_sdk.strategy import AgentStrategy

CUT_THOUGHT = (
    "it was cut off by its length limit before an action or an answer; think more briefly and write an Action or a "
    "Final Answer"
)


_CUT_REASONS = frozenset({"length", "content_filter"})
"""Why a reply may end before its end."""


class ChainOfThoughtStrategy(AgentStrategy):
    """The loop for models that write their actions as text (ReAct)."""

    name = "chain-of-thought"
    label = "Chain of thought"
    description = "Describes the tools in the prompt, reads the model's actions out of its text, and runs them."
    features: ClassVar[tuple[str, ...]] = ("history", "files", "parallel-tools")
    parameters = PARAMETERS

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs the loop."""
        async for message in _ChainOfThought(params, session).messages():
            yield message


class _ChainOfThought(Loop):
    """One run: the work so far, and what was read out of the model's last reply."""

    def __init__(self, params: Mapping[str, Any], session: Session) -> None:
        super().__init__(params, session)
        self._menu = session.tools.list()
        self._prompt = Prompt(session, params["template"], params["instruction"], params["query"])
        self._scratchpad = Scratchpad()
        self._reply = Reply(0)
        self._calls: tuple[ToolCall, ...] = ()

    # ------------------------------------------------------------ the model

    async def ask(self, round_: Round, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Parses the reply while it comes; thoughts and the answer go out at once."""
        thought = thought_log(self.session, log)
        yield thought
        self._reply = reply = Reply(round_.number, direct=not self._menu)
        parser = self._parser()
        call = self._call(round_)
        heard = 0
        async for chunk in call:
            heard += len(chunk.text)
            if chunk.reasoning:
                yield text_message(chunk.reasoning, meta={"round": round_.number, "reasoning": True})
            for message in reply.take(parser.feed(chunk.text), labelled=parser.labelled):
                yield message
        self.result = await call
        cut = self.result.finish_reason in _CUT_REASONS
        if self._was_misheard(heard):
            parser = self._parser(thinking=False)
            for message in self._read_again(parser, round_):
                yield message
            reply = self._reply
        for message in reply.take(parser.finish(cut), labelled=parser.labelled):
            yield message
        for message in self._read_reasoning(cut=cut):
            yield message
        too_long = self.result.finish_reason == "length"
        self._settle(round_, thought_cut=too_long and (parser.labelled or bool(self._scratchpad.text)))
        yield self._closed(thought)
        if reply.error is not None:
            yield _format_error(reply.error, log)

    def _was_misheard(self, heard: int) -> bool:
        """Whether some of the text was thought, as it turned out: a think block ended that nobody had opened."""
        message = self.result.message
        parted = self.params["starts_thinking"] and message.reasoning and message.content
        return bool(parted) or heard > len(message.content or "")

    def _read_again(self, parser: Parser, round_: Round) -> Iterator[ToolInvokeMessage]:
        """Reads what is left of the text anew; what was given out of it counts as thought."""
        told = self._reply.told
        self._reply = Reply(round_.number, direct=not self._menu)
        if told:
            yield text_message("", meta={"round": round_.number, THOUGHT: told})
        for message in self._reply.take(parser.feed(self.result.message.content or ""), labelled=parser.labelled):
            if not (message.meta or {}).get("reasoning"):
                yield message

    def _read_reasoning(self, *, cut: bool) -> list[ToolInvokeMessage]:
        """A reply that is all reasoning was perhaps never closed: its last action or answer counts after all."""
        reply, reasoning = self._reply, self.result.message.reasoning
        if cut or not reasoning or not self._is_mute:
            return []
        parser = self._parser(thinking=True)
        events = [*parser.feed(reasoning), *parser.finish()]
        return list(reply.take([e for e in events if isinstance(e, Action | Answer | ParseError)], labelled=True))

    def _parser(self, *, thinking: bool | None = None) -> Parser:
        labels = ENGLISH + CHINESE if self.params["chinese_labels"] else ENGLISH
        if not self._menu:
            labels = ANSWERING
        menu = {tool.name: tool.parameters for tool in self._menu}
        return Parser(menu, labels=labels, thinking=self.params["starts_thinking"] if thinking is None else thinking)

    def _call(self, round_: Round) -> ModelCall:
        info = self.session.model.info
        form = self.params["form"]
        completion = info.completion if form == "auto" else form == "completion"
        make = self._prompt.completion if completion else self._prompt.chat
        messages = make(self._scratchpad, last=round_.last, forbid=self.params["last_round"] == "forbid")
        stop = STOP_CHINESE if self.params["chinese_labels"] else STOP
        if completion:
            stop = (*stop, "\nQuestion:")
        wanted = stop if info.stop_words and self._menu else ()
        return self.session.model.invoke(messages, stop=wanted, completion=completion)

    def _settle(self, round_: Round, *, thought_cut: bool) -> None:
        """Decides what the reply comes to; calls that the model made in its own way are calls as well."""
        reply = self._reply
        self._calls = tool_calls(reply.actions, self._menu, round_.number)
        if not self._calls and reply.error is None:
            self._calls = self.result.message.tool_calls
        if thought_cut and not self._calls and not reply.answered and reply.error is None:
            reply.error = ParseError(CUT_THOUGHT, "")

    def _closed(self, thought: ToolInvokeMessage) -> ToolInvokeMessage:
        message = self.result.message.model_copy(update={"tool_calls": self._calls})
        closed = close_thought(thought, replace(self.result, message=message))
        return finish_log(closed, metadata=self._reply.noted)

    @property
    def _is_mute(self) -> bool:
        reply = self._reply
        silent = not (reply.actions or reply.error or reply.began_answer or reply.thought)
        return silent and not self.result.message.tool_calls

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to go on with; a thought will do, unless an empty answer follows it."""
        return not (self.goes_on or self._reply.answered or (self._reply.thought and not self._reply.began_answer))

    @property
    def is_lost(self) -> bool:
        """Whether there is not even a thought."""
        return self.is_empty and not self._reply.thought

    def say_it_was_empty(self) -> None:
        """As an observation."""
        self._scratchpad.add(EMPTY)

    # ------------------------------------------------------------ what follows from it

    @property
    def goes_on(self) -> bool:
        """Whether there are actions, or one that could not be read."""
        return bool(self._calls) or self._reply.error is not None

    @property
    def has_spoken(self) -> bool:
        """Whether an answer was given out, or a thought as one."""
        return self._reply.answered or self._reply.shown

    def rest(self) -> list[ToolInvokeMessage]:
        """The answer of a reply that has none of its own: its thought."""
        reply = self._reply
        return [] if self.has_spoken or not reply.thought else [reply.tell(reply.thought)]

    async def act(self, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs the actions, or tells the model what was wrong with its action."""
        reply = self._reply
        if reply.error is not None and not self._calls:
            self._scratchpad.failed(reply.thought, reply.error.raw, reply.error.reason)
            return
        tools = ToolRound(self.session, self._calls, log, int(self.params["parallel_tools"]))
        async for message in tools.run():
            yield message
        self._scratchpad.acted(reply.thought, self._calls, tools.results)

    def limit(self, round_: Round) -> AgentMaxIterationError:
        """Says as well what was wrong with an action that could not be read."""
        limit = limit_reached(round_.number - 1)
        if self._calls or self._reply.error is None:
            return limit
        text = f"{limit.message} (its last reply could not be used: {self._reply.error.reason})"
        return AgentMaxIterationError(text, details=limit.details)


def _format_error(error: ParseError, parent: ToolInvokeMessage) -> ToolInvokeMessage:
    log = log_message("FORMAT ERROR", parent=parent, status=LogStatus.ERROR, metadata={"kind": "format_error"})
    return finish_log(log, data={"raw": error.raw}, error=error.reason)
