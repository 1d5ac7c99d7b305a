"""Puts a reply together from the chunks of a provider, however loosely it keeps to the form."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from enfilade.models.calls import CallAssembly
from enfilade.models.content import content_of, reasoning_of
from enfilade.models.end_tokens import EndTokens
from enfilade.models.harmony import Harmony, Spoken
from enfilade.models.markup import MarkupFilter
from enfilade.models.surrogates import SurrogateJoiner, mended
from enfilade.models.think import Split, ThinkSplitter
from enfilade.models.usage import UsageCount
from enfilade_sdk.markup.kinds import Markup
from enfilade_sdk.prompts import AssistantMessage, ModelChunk, PromptTool, ToolCallDelta, Usage

REPLY_LIMIT = 16 * 2**20
"""Characters that the text and thought of one reply may have."""

_SPECIAL = re.compile("[<\\[`{\u25c1\ud800-\udfff]")
_CUT_REASONS = frozenset({"length", "content_filter"})
_LENGTH_WORDS = frozenset({"max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens"})
_BROKEN_REASONS = frozenset(
    {"error", "server_error", "internal_error", "network_error", "insufficient_system_resource", "abort", "aborted"}
)
"""What providers call it when they could not go on: a reply that ends so is not the reply."""
_NO_REASONS = ("null", "none")
_CALL_WORDS = frozenset({"tool_calls", "function_call", "tool_use"})


class ReplyTooLongError(ValueError):
    """A reply goes on and on."""


class ReplyAssembly:
    """One reply, chunk by chunk.

    What was streamed is the fact; the finish reason is a hint that many servers get wrong.

    Args:
        tools: The tools that were offered.
        known: Further names of tools in the conversation. Markup of a call to one of these is a call too, so that a
            model that still asks for a tool when they were taken away is seen to do so.
        markups: Which markups of calls in the text are looked for.
    """

    def __init__(
        self, *, tools: Sequence[PromptTool] = (), known: Iterable[str] = (), markups: Collection[Markup] = ()
    ) -> None:
        menu = {**{name: {} for name in known}, **{tool.name: tool.parameters for tool in tools}}
        required = {tool.name for tool in tools if tool.parameters.get("required")}
        self.model = ""
        self.reasoning_field: str | None = None
        self.has_begun = False
        self._menu, self._markups = menu, markups
        self._calls = CallAssembly(menu, required)
        self._usage = UsageCount()
        self._harmony = Harmony()
        self._think = ThinkSplitter()
        self._ends = EndTokens()
        self._strangers = bool(tools)  # what was not offered is no call to be told of, when nothing was
        self._markup = MarkupFilter(menu, markups, strangers=self._strangers)
        self._joiners = (SurrogateJoiner(), SurrogateJoiner())
        self._given: list[str] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._size = 0
        self._reason = ""
        self._at_finish = 0
        self._choice: Any = None
        self._came_as_delta = False
        self._text_came = False
        self._is_flowing = False
        self._flow = 0
        self._ended = False

    @property
    def is_finished(self) -> bool:
        """Whether the provider said that the reply is at its end."""
        return bool(self._reason)

    @property
    def may_go_on(self) -> bool:
        """Whether something came with the finish reason or after it, as from servers that give one with every chunk."""
        return self._size + self._calls.opened > self._at_finish

    @property
    def broken_off(self) -> str:
        """The finish reason that says the provider could not go on; empty when it says no such thing."""
        return self._reason if self._reason.lower() in _BROKEN_REASONS else ""

    @property
    def is_empty(self) -> bool:
        """Whether neither text nor thought nor a call has come."""
        return not (self._size or self._calls)

    def flow(self, event: dict[str, Any]) -> str:
        """Takes an event that holds nothing but text which may be shown as it is, as most do; gives that text out.

        Returns:
            Empty when there may be more to the event; then it was not taken, and is to be fed.

        Raises:
            ReplyTooLongError: The reply passes a limit of size.
        """
        if not self._is_flowing or event.get("usage"):
            return ""
        text = _plain_text(event.get("choices"), self._choice)
        if text:
            self._grow(len(text))
            self._text.append(text)
        return text

    def feed(self, event: dict[str, Any]) -> ModelChunk | None:
        """Takes one chunk, or a whole reply; gives out what is new for display.

        Raises:
            ReplyTooLongError: The reply passes a limit of size.
            TooManyCallsError: It passes the limit of calls.
        """
        if event.get("usage") is not None:
            self._usage.feed(event["usage"])
        elif isinstance(event.get("x_groq"), dict):  # where Groq puts it when nobody asked for it
            self._usage.feed(event["x_groq"].get("usage"))
        if not self.model and isinstance(event.get("model"), str):
            self.model = mended(event["model"])
        choices = event.get("choices")
        if not choices:
            return None
        if self._is_flowing:
            self._catch_up()
        news = _News()
        for choice in choices if isinstance(choices, list) else [choices]:
            if isinstance(choice, dict) and self._is_ours(choice):
                self._take_choice(choice, news)
        self._is_flowing = self._text_came and all(
            part.is_flowing for part in (self._harmony, self._think, self._ends, self._markup)
        )
        self._flow = len(self._text)
        return news.chunk()

    def end(self) -> ModelChunk | None:
        """What was held back, once nothing more comes."""
        news = _News()
        self._ended = True
        self._catch_up()
        for joiner, take in zip(self._joiners, (self._take_text, self._take_reasoning), strict=True):
            if left := joiner.finish():
                take(left, news)
        self._take_spoken(self._harmony.finish(), news)
        split = self._think.finish()
        if split.returned:
            kept = "".join(self._reasoning) + split.reasoning
            self._reasoning, split = [kept[: -split.returned]], split._replace(reasoning="")
        self._show(split, news)
        left = self._markup.feed(self._ends.finish()) + self._markup.finish(cut=self._was_cut)
        self._add_text(left, news)
        self._collect(news)
        return news.chunk()

    def message(self) -> AssistantMessage:
        """The whole message; to be asked for once, after `end`."""
        assert self._ended, "the reply has not ended"
        calls = self._calls.finish(cut=self._was_cut)
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        content = None if not text or (calls and text.isspace()) else text
        return AssistantMessage(content=content, tool_calls=calls, reasoning=reasoning or None)

    @property
    def finish_reason(self) -> str:
        """Why the reply ended: as the provider said, where that agrees with what came."""
        if self._was_cut:
            return "length" if self._reason in _LENGTH_WORDS else self._reason
        if self._calls:
            return "tool_calls"
        return "stop" if self._reason in _CALL_WORDS else self._reason or "stop"

    @property
    def usage(self) -> Usage:
        """Tokens as the provider reported them."""
        return self._usage.finish()

    @property
    def _was_cut(self) -> bool:
        return self._reason in _CUT_REASONS or self._reason in _LENGTH_WORDS

    def _is_ours(self, choice: dict[str, Any]) -> bool:
        """Whether it is the choice that came first; others, which nobody asked for, are left alone."""
        self.has_begun = True
        index = choice.get("index")
        if index is None:
            return True
        if self._choice is None:
            self._choice = index
        return bool(index == self._choice) or str(index) == str(self._choice)

    def _catch_up(self) -> None:
        """Tells the filters of the text that flowed past them, before they are asked again."""
        flowed = self._text[self._flow :]
        if flowed:
            text = "".join(flowed)
            self._given.append(text)
            self._think.passed(text)
            self._markup.passed(text)
        self._is_flowing = False

    def _take_choice(self, choice: dict[str, Any], news: "_News") -> None:
        if not self._reason:
            self._at_finish = self._size + self._calls.opened
        delta = choice.get("delta")
        if delta:
            if isinstance(delta, dict):
                self._take_delta(delta, news)
        elif isinstance(choice.get("message"), dict):
            self._take_message(choice["message"], news)
        elif isinstance(choice.get("text"), str):
            self._take_text(choice["text"], news)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str) and reason.lower() not in _NO_REASONS:
            self._reason = mended(reason)
        if choice.get("usage") is not None:
            self._usage.feed(choice["usage"])

    def _take_delta(self, delta: dict[str, Any], news: "_News") -> None:
        self._came_as_delta = True
        content = delta.get("content")
        if len(delta) > 1 or content is None:
            self._take_extras(delta, news)
        if type(content) is str:
            if content:
                self._take_text(content, news)
        elif content is not None:
            text, reasoning = content_of(content)
            self._take_reasoning(reasoning, news)
            self._take_text(text, news)
        calls = delta.get("tool_calls")
        if calls:
            news.calls += self._calls.feed(calls)
        elif delta.get("function_call"):
            news.calls += self._calls.feed_legacy(delta["function_call"])

    def _take_extras(self, delta: dict[str, Any], news: "_News") -> None:
        reasoning, field = reasoning_of(delta)
        if reasoning:
            self.reasoning_field = self.reasoning_field or field
            self._take_reasoning(reasoning, news)
        if isinstance(delta.get("refusal"), str):
            self._take_text(delta["refusal"], news)

    def _take_message(self, message: dict[str, Any], news: "_News") -> None:
        """A whole message where a delta was due: what it repeats is not taken twice."""
        text, reasoning = content_of(message.get("content"))
        field_reasoning, field = reasoning_of(message)
        if not self._reasoning:
            self.reasoning_field = self.reasoning_field or field or None
            self._take_reasoning(field_reasoning or reasoning, news)
        if isinstance(message.get("refusal"), str):
            text = text or message["refusal"]
        said = "".join(self._given)
        if text.startswith(said) and (said or not self._text_came):
            self._take_text(text[len(said) :], news)
        elif not self._came_as_delta:
            self._take_text(text, news)
        if not (self._calls and self._came_as_delta):
            news.calls += self._calls.feed(message.get("tool_calls"))
            if not message.get("tool_calls"):
                news.calls += self._calls.feed_legacy(message.get("function_call"))

    def _take_reasoning(self, piece: str, news: "_News") -> None:
        whole = self._joiners[1].feed(piece)
        if whole:
            self._grow(len(whole))
            self._reasoning.append(whole)
            news.reasoning += whole

    def _take_text(self, piece: str, news: "_News") -> None:
        whole = self._joiners[0].feed(piece)
        if whole:
            self._grow(len(whole))
            self._text_came = True
            self._take_spoken(self._harmony.feed(whole), news)

    def _take_spoken(self, spoken: Spoken, news: "_News") -> None:
        if spoken.reasoning:
            self._show(Split(reasoning=spoken.reasoning), news)
        if spoken.text:
            self._show(self._think.feed(spoken.text), news)
        for name, arguments in spoken.calls:
            news.calls += (self._calls.add(name, arguments),)

    def _show(self, split: Split, news: "_News") -> None:
        if split.reclaimed:
            self._reasoning += self._given
            self._given, self._text = [], []
            self._calls.forget_found()
            self._ends = EndTokens()
            self._markup = MarkupFilter(self._menu, self._markups, strangers=self._strangers)
        if split.reasoning:
            if self.reasoning_field is None:
                self.reasoning_field = ""
            self._reasoning.append(split.reasoning)
            news.reasoning += split.reasoning
        if split.text:
            self._given.append(split.text)
            self._add_text(self._markup.feed(self._ends.feed(split.text)), news)
            self._collect(news)

    def _add_text(self, text: str, news: "_News") -> None:
        if text:
            self._text.append(text)
            news.text += text

    def _collect(self, news: "_News") -> None:
        for call in self._markup.take_found():
            news.calls += (self._calls.add(call.name, call.arguments),)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > REPLY_LIMIT:
            raise ReplyTooLongError(f"the reply has more than {REPLY_LIMIT} characters")


def _plain_text(choices: Any, index: Any) -> str:
    """The text of a delta that holds nothing but plain text, as most do; empty when it may be more than that."""
    if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
        return ""
    choice = choices[0]
    delta = choice.get("delta")
    if type(delta) is not dict or len(delta) != 1 or choice.get("finish_reason") or choice.get("usage"):
        return ""
    if choice.get("index", index) != index:
        return ""
    text = delta.get("content")
    return text if type(text) is str and text and not _SPECIAL.search(text) else ""


class _News:
    """What one chunk brings."""

    __slots__ = ("calls", "reasoning", "text")

    def __init__(self) -> None:
        self.text = ""
        self.reasoning = ""
        self.calls: tuple[ToolCallDelta, ...] = ()

    def chunk(self) -> ModelChunk | None:
        if not (self.text or self.reasoning or self.calls):
            return None
        return ModelChunk(self.text, self.reasoning, self.calls)
