"""What was said, as GenAI's conventions write it into spans: messages of parts, as JSON text."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from enfilade_sdk.prompts import (
    AssistantMessage,
    ImagePart,
    ModelResult,
    PromptMessage,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)

MOST_TEXT = 16 * 1024
"""Characters of one text; the rest is cut off, and how much is said."""

MOST_MESSAGES = 256 * 1024
"""Characters of all messages of a call together; of more, the oldest are left out."""

Json = dict[str, Any]


def cut(text: str) -> str:
    """A text of at most `MOST_TEXT` characters, with a note of what was cut."""
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]}... ({len(text) - MOST_TEXT} more characters)"


def instructions(messages: Sequence[PromptMessage], masked: Callable[[str], str]) -> str:
    """The system messages, as `gen_ai.system_instructions`; empty where there is none."""
    parts = [_text(message.content) for message in messages if isinstance(message, SystemMessage)]
    return masked(_json(parts)) if parts else ""


def conversation(messages: Sequence[PromptMessage], masked: Callable[[str], str]) -> str:
    """All other messages, as `gen_ai.input.messages`."""
    kept: list[str] = []
    left = MOST_MESSAGES
    for message in reversed(messages):
        if isinstance(message, SystemMessage):
            continue
        text = _json(_message(message))
        left -= len(text)
        if left < 0 and kept:
            break
        kept.append(text)
    return masked(f"[{','.join(reversed(kept))}]")


def reply(result: ModelResult, masked: Callable[[str], str]) -> str:
    """What the model answered, as `gen_ai.output.messages`."""
    return masked(_json([_message(result.message) | {"finish_reason": result.finish_reason}]))


def texts(role: str, text: str, masked: Callable[[str], str]) -> str:
    """One text as the messages of a role."""
    return masked(_json([{"role": role, "parts": [_text(text)]}]))


def value(given: object, masked: Callable[[str], str]) -> str:
    """A tool's arguments or result: a text as it is, else JSON."""
    return masked(cut(given if isinstance(given, str) else _json(given)))


def _message(message: PromptMessage) -> Json:
    return {"role": message.role, "parts": list(_parts(message))}


def _parts(message: PromptMessage) -> Iterator[Json]:
    if isinstance(message, ToolMessage):
        yield {"type": "tool_call_response", "id": message.tool_call_id, "response": cut(message.content)}
    elif isinstance(message, AssistantMessage):
        if message.reasoning:
            yield {"type": "reasoning", "content": cut(message.reasoning)}
        if message.content:
            yield _text(message.content)
        for call in message.tool_calls:
            arguments = call.arguments if call.parsed is None else call.parsed
            yield {"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments}
    elif isinstance(message, UserMessage) and not isinstance(message.content, str):
        yield from (_of_user(part) for part in message.content)
    else:
        yield _text(str(message.content))


def _of_user(part: TextPart | ImagePart) -> Json:
    if isinstance(part, TextPart):
        return _text(part.text)
    url = part.image_url.url
    return {"type": "uri", "modality": "image", "uri": url if not url.startswith("data:") else url.partition(",")[0]}


def _text(text: str) -> Json:
    return {"type": "text", "content": cut(text)}


def _json(given: object) -> str:
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"), default=str)
