"""Reads the body of an answer: an event stream, or one JSON value whatever was asked for."""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from enfilade.models.assembly import ReplyAssembly, ReplyTooLongError
from enfilade.models.calls import TooManyCallsError
from enfilade.models.event import read_event
from enfilade.models.failures import Failures, error_in, reason_in
from enfilade.models.sse import SseEvent, SseOverflowError, SseReader, is_end
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import ModelChunk

BODY_LIMIT = 64 * 2**20
"""Bytes that one answer may have, with all its framing."""

_EXCERPT = 300
_AFTER_DONE = 0.2
_AFTER_FINISH = 1.0
"""Seconds that a usage chunk, or `[DONE]`, may come after the finish reason."""
_AFTER_ANY_FINISH = 10.0
"""The same where the reason came with text: some servers give one with every chunk, and go on."""
_BLANK = b" \t\r\n\0\xef\xbb\xbf"
_PREFIX = b"data:"
_PINGS = frozenset({b"", b"ping", b"pong", b"heartbeat", b"keepalive", b"keep-alive", b"keep alive"})
_OVERFLOWS = (SseOverflowError, ReplyTooLongError, TooManyCallsError)


class ReplyStream:
    """From the bytes of one answer to chunks for display; the message grows in the assembly.

    What the body is, its first character tells: `{` or `[` is JSON (one value, or one a line), `<` a page, anything
    else an event stream. Content types are not believed: many servers send the wrong one.

    Args:
        assembly: Where the reply is put together.
        failures: Makes the errors.
    """

    def __init__(self, assembly: ReplyAssembly, failures: Failures) -> None:
        self._assembly = assembly
        self._failures = failures
        self._sse = SseReader()
        self._kind = b""
        self._is_stream = False
        self._whole: list[bytes] = []
        self._first = b""
        self._size = 0
        self._is_value = False
        self.is_done = False

    @property
    def patience(self) -> float | None:
        """How many seconds to wait for more; None while the reply is not whole, so that the model's timeout holds."""
        if self.is_done:
            return _AFTER_DONE
        if not self._assembly.is_finished:
            return None
        return _AFTER_ANY_FINISH if self._assembly.may_go_on else _AFTER_FINISH

    @property
    def holds_reply(self) -> bool:
        """Whether what came is one JSON value of a finished reply, so that a connection that breaks takes nothing."""
        if self._is_stream or not self._whole:
            return False
        try:
            value = read_event(b"".join(self._whole))
        except (ValueError, RecursionError):
            return False
        choices = value.get("choices") if isinstance(value, dict) else None
        return isinstance(choices, list) and any(isinstance(c, dict) and c.get("finish_reason") for c in choices)

    def feed(self, part: bytes) -> Iterable[ModelChunk]:
        """The chunks that the next bytes bring; neighbours become one, where that keeps their order.

        Raises:
            ModelFailedError: They bring an error, or what cannot be read; after the chunks that came before it.
        """
        self._size += len(part)
        if self._size > BODY_LIMIT:
            raise self._failures.failed(f"the answer has more than {BODY_LIMIT} bytes", kind="overflow")
        if not self._is_stream:
            part = self._begin(part)
        if not self._is_stream:
            return ()
        try:
            events = self._sse.feed(part)
            if len(events) > 1:
                return self._chunks(events)
            item = self._item(*events[0]) if events else None
        except _OVERFLOWS as error:
            raise self._failures.failed(str(error), kind="overflow") from None
        return () if item is None else (ModelChunk(item) if isinstance(item, str) else item,)

    def _begin(self, part: bytes) -> bytes:
        """Finds out from the first character what the body is; what the event stream is to read comes back."""
        if not self._kind:
            part = part.lstrip(_BLANK)
            self._kind = part[:1]
            self._is_stream = self._kind not in (b"", b"{", b"[", b"<")
            if self._is_stream:
                self._first = part[:_EXCERPT]
                return part
        self._whole.append(part)
        return b""

    def end(self) -> Iterator[ModelChunk]:
        """The chunks that were held back, once the body is at its end.

        Raises:
            ModelFailedError: The reply is not whole.
        """
        if not self.is_done:
            yield from self._chunks([SseEvent(value) for value in self._values()] if self._whole else self._sse.end())
            if not self.is_done:
                self._check_whole()
        if broken_off := self._assembly.broken_off:
            raise self._failures.in_stream({"message": f"finish reason `{broken_off}`"})
        if (last := self._assembly.end()) is not None:
            yield last

    def _chunks(self, events: Iterable[SseEvent]) -> Iterator[ModelChunk]:
        """The chunks of events that arrived together, even when one of them is an error."""
        came: list[list[str] | ModelChunk] = []
        texts: list[str] = []
        try:
            for data, name in events:
                item = self._item(data, name)
                if isinstance(item, str):
                    if not texts:
                        came.append(texts)
                    texts.append(item)
                elif item is not None:
                    came.append(item)
                    texts = []
        except _OVERFLOWS as error:
            raise self._failures.failed(str(error), kind="overflow") from None
        finally:
            yield from _joined(came)

    def _item(self, data: bytes, name: bytes) -> str | ModelChunk | None:
        """What an event brings: plain text, more than that, or nothing."""
        event = self._event(data, name)
        return None if event is None else self._assembly.flow(event) or self._assembly.feed(event)

    def _event(self, data: bytes, name: bytes) -> dict[str, Any] | None:
        """The event's value; None when it is nothing, or the end."""
        if self.is_done or not data:
            return None
        if data[:1] != b"{" and is_end(data):
            self._finish()
            return None
        try:
            event = read_event(data)
        except (ValueError, RecursionError):
            if name == b"error":
                raise self._failures.in_stream(reason_in(data)) from None
            if data.startswith(_PREFIX):  # written twice, by a server and by its proxy
                return self._event(data.removeprefix(_PREFIX).strip(), name)
            if _is_ping(data):
                return None
            raise self._unreadable(data) from None
        if not isinstance(event, dict):
            if event is None or event == [] or _is_ping(data):
                return None
            raise self._failures.in_stream(event) if name == b"error" else self._unreadable(data)
        if (name or b'"error"' in data or "choices" not in event) and (error := error_in(event, name)) is not None:
            raise self._failures.in_stream(error)
        return event

    def _finish(self) -> None:
        self.is_done = True
        if not self._assembly.is_finished and self._assembly.is_empty:
            raise self._empty()

    def _values(self) -> list[bytes]:
        """The JSON body; of a list its items, of several lines each line."""
        body = b"".join(self._whole).strip(_BLANK)
        if body.startswith(b"<"):
            text = f"it answered with a web page instead of a reply: {reason_in(body)}"
            raise self._failures.failed(text, kind="garbage", retryable=True)
        try:
            value = read_event(body)
        except (ValueError, RecursionError):
            return [line for line in body.splitlines() if line.strip()]
        self._is_value = True
        return [orjson.dumps(item) for item in value] if isinstance(value, list) else [body]

    def _check_whole(self) -> None:
        assembly = self._assembly
        if assembly.is_finished or (self._is_value and assembly.has_begun):
            return
        if assembly.is_empty and not assembly.has_begun:
            raise self._empty()
        raise self._failures.failed(
            "the connection was closed in the middle of the answer (neither a finish reason nor [DONE] came)",
            kind="cut",
            retryable=True,
        )

    def _empty(self) -> ModelFailedError:
        came = reason_in(self._first or b"".join(self._whole)[:_EXCERPT])
        text = f"the answer was empty{f'; all that came was: {came}' if came else ''}"
        return self._failures.failed(text, kind="empty", retryable=True)

    def _unreadable(self, data: bytes) -> ModelFailedError:
        text = f"a piece of the answer is not JSON: {reason_in(data)}"
        return self._failures.failed(text, kind="garbage", retryable=True)


def _is_ping(data: bytes) -> bool:
    """Whether it only keeps the connection open."""
    return data.strip(b' \t"').lower() in _PINGS


def _joined(came: list[list[str] | ModelChunk]) -> Iterator[ModelChunk]:
    """Chunks in their order; neighbours become one, where that keeps it."""
    held: ModelChunk | None = None
    for item in came:
        chunk = ModelChunk("".join(item)) if isinstance(item, list) else item
        if held is None:
            held = chunk
        elif _follows(held, chunk):
            held = _together(held, chunk)
        else:
            yield held
            held = chunk
    if held is not None:
        yield held


def _follows(before: ModelChunk, after: ModelChunk) -> bool:
    """Whether two chunks can be one: thought comes first in a chunk, then text, then calls."""
    if before.tool_calls:
        return not (after.text or after.reasoning)
    return not (before.text and after.reasoning)


def _together(before: ModelChunk, after: ModelChunk) -> ModelChunk:
    return ModelChunk(
        before.text + after.text, before.reasoning + after.reasoning, before.tool_calls + after.tool_calls
    )
