"""Errors of model providers, in words that a user can act on."""

import html
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from enfilade.models.settings import ModelSettings
from enfilade.models.surrogates import mended
from enfilade_sdk.errors import ModelFailedError

_REASON_LIMIT = 500
_READ_LIMIT = 64 * 2**10
_RETRYABLE = frozenset({408, 409, 425, 429})
_RETRYABLE_WORDS = (
    "overload",
    "rate_limit",
    "server_error",
    "unavailable",
    "timeout",
    "timed out",
    "internal_error",
    "network_error",
    "insufficient_system_resource",
)
_HINTS: Mapping[int, str] = {
    401: "check the API key",
    403: "the API key may not use this model",
    404: "check the base URL and the model's name",
    429: "the provider's rate limit or quota is used up",
}
_INVISIBLE = re.compile(r"<!--.*?-->|<(script|style|head)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Failures:
    """Makes the errors of one model.

    Attributes:
        model: Which model it is; its name and endpoint stand in every text.
        secrets: Values that must not appear in any text, such as the API key.
        base_url: The endpoint that is really used.
    """

    model: ModelSettings
    secrets: Collection[str] = ()
    base_url: str = ""

    def failed(
        self, text: str, *, kind: str, status: int | None = None, retryable: bool | None = None
    ) -> ModelFailedError:
        """The error for a text that says what happened.

        Args:
            text: What happened and, where it helps, what to do.
            kind: One word for programs: `connection`, `timeout`, `status`, `stream_error`, `cut`, `empty`, `garbage`,
                `overflow`, `configuration`.
            status: The HTTP status, or the one a stream's error object names.
            retryable: Whether the same call may succeed later; None lets the status decide.
        """
        details = {
            "status": status,
            "retryable": is_retryable(status) if retryable is None else retryable,
            "provider": self.model.provider,
            "model": self.model.name,
            "endpoint": self.endpoint,
            "type": kind,
        }
        return ModelFailedError(f"model {self.model.name!r} at {self.endpoint}: {self.scrubbed(text)}", details=details)

    def refused(self, status: int, body: bytes, retry_after: float | None = None) -> ModelFailedError:
        """The error for an HTTP status of 400 and above; the provider may ask to wait so many seconds."""
        reason = reason_in(body)
        hint = _HINTS.get(status)
        text = f"HTTP {status}" + (f" ({hint})" if hint else "") + (f": {reason}" if reason else ", without a reason")
        error = self.failed(text, kind="status", status=status)
        if retry_after is not None:
            error.details["retry_after"] = retry_after
        return error

    def in_stream(self, error: Any) -> ModelFailedError:
        """The error for an error object inside a stream that began with 200."""
        reason = _reason_of(error) or "an error without a reason"
        status = _status_of(error)
        extras = [f"{name} {error[name]}" for name in ("type", "code") if isinstance(error, dict) and error.get(name)]
        retryable = is_retryable(status) or any(word in f"{reason} {extras}".lower() for word in _RETRYABLE_WORDS)
        suffix = f" ({', '.join(extras)})" if extras else ""
        text = f"the provider broke the answer off with an error: {_bounded(reason)}{suffix}"
        return self.failed(text, kind="stream_error", status=status, retryable=retryable)

    @property
    def endpoint(self) -> str:
        """Where the model is, without user, password and query."""
        url = urlsplit(self.base_url or self.model.base_url or "https://api.openai.com/v1")
        host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
        return f"{url.scheme}://{host}{f':{url.port}' if url.port else ''}{url.path.rstrip('/')}"

    def scrubbed(self, text: str) -> str:
        """The text without any secret that an endpoint may have sent back."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            if secret:
                text = text.replace(secret, "***")
        return text


def is_retryable(status: int | None) -> bool:
    """Whether a call that ended with this HTTP status may succeed when it is made again."""
    return status is not None and (status in _RETRYABLE or 500 <= status < 600)  # noqa: PLR2004 - server errors


def error_in(event: Any, name: bytes = b"") -> Any:
    """The error object that an event of a stream carries, in one of its many shapes; None when it carries none."""
    if not isinstance(event, dict):
        return {"message": f"an event that is no object: {event!r}"} if name == b"error" else None
    error = event.get("error")
    if error and not (isinstance(error, dict) and not any(error.values())):  # `{"code": 0, "message": ""}` is none
        return error if not isinstance(error, dict) or error.get("message") else event
    if name == b"error" or event.get("object") == "error" or event.get("type") == "error":
        return event
    choices = event.get("choices")
    if choices and isinstance(choices, list):
        found = [choice["error"] for choice in choices if isinstance(choice, dict) and choice.get("error")]
        return found[0] if found else None
    return event if choices is None and (event.get("detail") or event.get("message")) else None


def reason_in(body: bytes) -> str:
    """What a body says in plain words: the message of a JSON error, the text of a page, else the text itself."""
    text = mended(body[:_READ_LIMIT].decode("utf-8", "replace")).strip()
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _bounded(page_text(text) if text.startswith("<") else text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    found = error_in(value) if isinstance(value, dict) else None
    return _bounded(_reason_of(value if found is None else found) or text)


def page_text(text: str) -> str:
    """The words of an HTML page."""
    title = _TITLE.search(text)
    body = _TAG.sub(" ", _INVISIBLE.sub(" ", text))
    words = " ".join(html.unescape(f"{title[1] if title else ''} {body}").split())
    return words or "an empty HTML page"


def _reason_of(error: Any) -> str:
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return "" if error is None else str(error)
    for key in ("message", "detail", "error", "msg", "reason", "title"):
        value = error.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict | list) and value:
            return _reason_of(value) if isinstance(value, dict) else "; ".join(map(_reason_of, value[:5]))
    return str(error) if error else ""


def _status_of(error: Any) -> int | None:
    if not isinstance(error, dict):
        return None
    for key in ("status", "status_code", "code"):
        value = error.get(key)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:  # noqa: PLR2004 - HTTP's errors
            return value
    return None


def _bounded(text: str) -> str:
    plain = " ".join(mended(text).split())
    return plain if len(plain) <= _REASON_LIMIT else plain[: _REASON_LIMIT - 3] + "..."
