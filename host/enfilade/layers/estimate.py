"""Guesses at tokens, for as long as a provider has not said how many there were."""

from collections.abc import Iterable

from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    PromptMessage,
    TextPart,
    Usage,
)

CHARACTERS_A_TOKEN = 4
"""A rule of thumb for English and code; other scripts need more tokens for their characters."""

IMAGE_CHARACTERS = 4_000
"""What an image counts, about what providers take for one of medium size (1,000 tokens)."""


def tokens_of(characters: int) -> int:
    """About how many tokens so many characters are."""
    return -(-characters // CHARACTERS_A_TOKEN)


class CallEstimate:
    """About how many tokens one model call has used, while it goes on.

    Attributes:
        prompt: Tokens of the prompt, its tools included.
        characters: What has been answered so far.
    """

    def __init__(self, request: ModelRequest) -> None:
        tools = sum(len(tool.name) + len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
        self.prompt = tokens_of(tools + sum(_characters(message) for message in request.messages))
        self.characters = 0

    @property
    def answer(self) -> int:
        """Tokens of the answer so far."""
        return tokens_of(self.characters)

    @property
    def usage(self) -> Usage:
        """All of it, in the form of what a provider says."""
        return Usage(prompt_tokens=self.prompt, completion_tokens=self.answer, total_tokens=self.prompt + self.answer)

    def add(self, answer: ModelChunk | ModelResult) -> int:
        """Counts what came; gives the number of characters that it brought."""
        if isinstance(answer, ModelChunk):
            size = chunk_characters(answer)
        else:
            size = 0 if self.characters else _characters(answer.message)
        self.characters += size
        return size


def chunk_characters(chunk: ModelChunk) -> int:
    """The characters that a chunk brings."""
    size = len(chunk.text) + len(chunk.reasoning)
    if chunk.tool_calls:
        size += sum(len(delta.name) + len(delta.arguments) for delta in chunk.tool_calls)
    return size


def is_counted(usage: Usage) -> bool:
    """Whether the provider said how many tokens there were, prompt and answer apart."""
    return usage.prompt_tokens is not None and usage.completion_tokens is not None


def total_of(usage: Usage) -> int | None:
    """All tokens of a call as the provider said; None when it did not."""
    if usage.total_tokens is not None:
        return usage.total_tokens
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens


def _characters(message: PromptMessage) -> int:
    if isinstance(message, AssistantMessage):
        calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
        return len(message.content or "") + len(message.reasoning or "") + calls
    if isinstance(message.content, str):
        return len(message.content)
    parts: Iterable[int] = (
        len(part.text) if isinstance(part, TextPart) else IMAGE_CHARACTERS for part in message.content
    )
    return sum(parts)
