"""Scripted turns of a model server, and what they look like as bytes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]

_HEAD: Json = {"id": "cc-1", "created": 1700000000, "model": "scripted"}
_DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as a well-behaved server would send it."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = "call_1"

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text; a string is sent as it is."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(dict(self.arguments))


@dataclass(frozen=True, slots=True)
class Turn:
    """What the server does with one request.

    One of `text`, `calls`, `reasoning` (any of them together), `events`, `raw` or `body` says what is sent.

    Attributes:
        text: Content deltas, one SSE event each.
        reasoning: Deltas of `reasoning_content`, before the text.
        calls: Tool calls, after the text, each in one delta.
        usage: The usage of the last chunk.
        finish: The finish reason; None lets the server find the right one.
        events: Whole chunk objects (or raw data lines, as strings), then `[DONE]`.
        raw: Bytes to write part by part.
        body: The whole body of an answer that is no stream: an object, text or bytes.
        status: The HTTP status.
        headers: Headers over and above the server's own.
        delay: Seconds before the status line.
        pause: Seconds between two parts.
        end: `whole`: the body is ended as it should be; `cut`: the connection is broken off; `hang`: nothing more
            comes and the connection stays open.
        done: Whether `[DONE]` follows the events.
    """

    text: Sequence[str] = ()
    reasoning: Sequence[str] = ()
    calls: Sequence[Call] = ()
    usage: Json | None = None
    finish: str | None = None
    events: Sequence[Json | str] | None = None
    raw: Sequence[bytes] | None = None
    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pause: float = 0.0
    end: Literal["whole", "cut", "hang"] = "whole"
    done: bool = True

    @property
    def finish_reason(self) -> str:
        """The reason a well-behaved server would give."""
        return self.finish or ("tool_calls" if self.calls else "stop")


def text_turn(*pieces: str, usage: Json | None = None, **more: Any) -> Turn:
    """An answer in pieces."""
    return Turn(text=pieces, usage=usage, **more)


def call_turn(name: str, arguments: Mapping[str, Any] | str = "{}", *, id: str = "call_1", **more: Any) -> Turn:  # noqa: A002
    """One tool call."""
    return Turn(calls=(Call(name, arguments, id),), **more)


def calls_turn(*calls: Call, **more: Any) -> Turn:
    """Several tool calls in one reply."""
    return Turn(calls=calls, **more)


def events_turn(*events: Json | str, **more: Any) -> Turn:
    """Whole chunk objects, sent as they are."""
    return Turn(events=events, **more)


def delta_turn(*deltas: Json | None, finish: str | None = "stop", **more: Any) -> Turn:
    """Chunks made from deltas, then one with the finish reason (None leaves that chunk out)."""
    events = [chunk(delta) for delta in deltas]
    return Turn(events=[*events, *([chunk({}, finish)] if finish is not None else [])], **more)


def error_turn(status: int, body: Any, **more: Any) -> Turn:
    """An HTTP error."""
    return Turn(status=status, body=body, **more)


def turn_from_json(form: Mapping[str, Any]) -> Turn:
    """Reads a turn of a script file; its keys are those of `Turn` and of the field reports."""
    given = dict(form)
    if "raw_sse_hex_parts" in given:
        given["raw"] = [bytes.fromhex(part) for part in given.pop("raw_sse_hex_parts")]
    if "calls" in given:
        given["calls"] = [Call(**call) for call in given["calls"]]
    return Turn(**given)


def chunk(delta: Json | None, finish: str | None = None, **more: Any) -> Json:
    """One chat chunk."""
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {**_HEAD, "object": "chat.completion.chunk", "choices": choices, **more}


def sse(event: Json | str) -> bytes:
    """One SSE event; a string is its data as it stands."""
    return f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()


def stream_parts(turn: Turn, *, completion: bool = False) -> Iterator[bytes]:
    """The parts of a streamed answer."""
    if turn.raw is not None:
        yield from turn.raw
        return
    events = turn.events if turn.events is not None else _completion_events(turn) if completion else _chat_events(turn)
    for event in events:
        yield sse(event)
    if turn.done:
        yield _DONE


def _chat_events(turn: Turn) -> Iterator[Json]:
    first: Json = {"role": "assistant"}
    for piece in turn.reasoning:
        yield chunk({**first, "reasoning_content": piece})
        first = {}
    for piece in turn.text:
        yield chunk({**first, "content": piece})
        first = {}
    for index, call in enumerate(turn.calls):
        yield chunk({**first, "tool_calls": [{"index": index, **_call(call)}]})
        first = {}
    yield chunk(first, turn.finish_reason)
    if turn.usage is not None:
        yield {**_HEAD, "object": "chat.completion.chunk", "choices": [], "usage": turn.usage}


def _completion_events(turn: Turn) -> Iterator[Json]:
    head = {**_HEAD, "object": "text_completion"}
    for piece in turn.text:
        yield {**head, "choices": [{"index": 0, "text": piece, "finish_reason": None}]}
    usage = {} if turn.usage is None else {"usage": turn.usage}
    yield {**head, "choices": [{"index": 0, "text": "", "finish_reason": turn.finish_reason}], **usage}


def _call(call: Call) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_text}}


def whole_body(turn: Turn, *, completion: bool = False) -> bytes:
    """The answer to a request that did not ask for a stream, or the body the script gives."""
    if turn.body is not None or turn.status >= 400:
        body = "" if turn.body is None else turn.body
        return body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    text = "".join(turn.text)
    if completion:
        choice: Json = {"index": 0, "text": text, "finish_reason": turn.finish_reason}
    else:
        choice = {"index": 0, "message": _message(turn, text), "finish_reason": turn.finish_reason}
    kind = "text_completion" if completion else "chat.completion"
    return json.dumps({**_HEAD, "object": kind, "choices": [choice], "usage": turn.usage}).encode()


def _message(turn: Turn, text: str) -> Json:
    message: Json = {"role": "assistant", "content": text or None}
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    if turn.reasoning:
        message["reasoning_content"] = "".join(turn.reasoning)
    return message


def cut_at_stop(turn: Turn, stop: str | Sequence[str] | None) -> Turn:
    """The turn as a server that obeys `stop` would send it."""
    words = [stop] if isinstance(stop, str) else list(stop or ())
    whole = "".join(turn.text)
    ends = [found for word in words if word and (found := whole.find(word)) >= 0]
    if not ends:
        return turn
    left, pieces = min(ends), []
    for piece in turn.text:
        pieces.append(piece[:left])
        left = max(0, left - len(piece))
    return Turn(text=[piece for piece in pieces if piece], reasoning=turn.reasoning, usage=turn.usage, pause=turn.pause)
