"""Function calling: the model asks for tools in its reply's own field, until it answers."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, ClassVar

from enfilade_fc.parameters import PARAMETERS
from enfilade_fc.prompt import ASK_AGAIN, opening
from enfilade_sdk.loop import Loop
from enfilade_sdk.messages import THOUGHT, ToolInvokeMessage, text_message
from enfilade_sdk.prompts import PromptMessage, PromptTool
from enfilade_sdk.rounds import Round, ToolRound, close_thought, thought_log
from enfilade_sdk.session import Session
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
        async for message in _FunctionCalling(params, session).messages():
            yield message


class _FunctionCalling(Loop):
    """One run: a prompt that grows at its end."""

    def __init__(self, params: Mapping[str, Any], session: Session) -> None:
        super().__init__(params, session)
        self._prompt: list[PromptMessage] = opening(session, params["instruction"], params["query"])

    async def ask(self, round_: Round, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Offers the tools; text goes out as it comes."""
        thought = thought_log(self.session, log)
        yield thought
        tools, choice = self._menu(round_)
        call = self.session.model.invoke(self._prompt, tools=tools, tool_choice=choice)
        said = {"round": round_.number}
        reasoned = {"round": round_.number, "reasoning": True}
        shown = 0
        blank: str | None = ""  # white space that may be all there is: then it is no answer; None behind it
        async for chunk in call:
            if chunk.reasoning:
                yield text_message(chunk.reasoning, meta=reasoned)
            if blank is not None and (not chunk.text or chunk.text.isspace()):
                blank += chunk.text
            elif chunk.text:
                text = (blank or "") + chunk.text
                shown, blank = shown + len(text), None
                yield text_message(text, meta=said)
        self.result = await call
        thought_shown = shown - len(self.result.message.content or "")
        if thought_shown > 0:  # a think block ended that nobody had opened
            yield text_message("", meta={**said, THOUGHT: thought_shown})
        yield close_thought(thought, self.result)

    def _menu(self, round_: Round) -> tuple[tuple[PromptTool, ...], str | None]:
        tools = self.session.tools.list()
        if not round_.last:
            return tools, None
        return (tools, "none") if tools and self.params["last_round"] == "forbid" else ((), None)

    async def act(self, log: ToolInvokeMessage) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs the calls; the reply and their results go to the end of the prompt."""
        reply = self.result.message
        tools = ToolRound(self.session, reply.tool_calls, log, int(self.params["parallel_tools"]))
        async for message in tools.run():
            yield message
        self._prompt += [reply, *tools.results]

    def say_it_was_empty(self) -> None:
        """As the user."""
        self._prompt.append(ASK_AGAIN)

    @property
    def goes_on(self) -> bool:
        """Whether there are calls."""
        return bool(self.result.message.tool_calls)

    @property
    def is_empty(self) -> bool:
        """Whether there is neither text nor a call."""
        return not self.goes_on and not (self.result.message.content or "").strip()
