"""What an interface answered, as messages."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin

import orjson

from enfilade.tools.openapi.failure import HttpFailure
from enfilade.tools.output import mime_type_of
from enfilade.tools.web_client import beginning_of, body_of
from enfilade_sdk.errors import LimitExceededError
from enfilade_sdk.messages import ToolInvokeMessage, blob_message, json_message, text_message, url_message

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 64 * 1024 * 1024
"""Bytes of an answer, as of a file that a tool gives."""

_ERROR_BYTES = 64 * 1024
_MOST_EXCERPT = 1_500
_REDIRECT, _ERROR = 300, 400
_TEXTS = re.compile(
    r"text/|application/(?:[\w.+-]+\+)?(?:xml|yaml|json|javascript)\Z|application/x-(?:www-form-urlencoded|yaml|ndjson)"
)
_FILE_NAME = re.compile(r"""filename\*?=(?:UTF-8'')?"?([^";]+)"?""", re.IGNORECASE)


async def messages_of_response(response: "httpx2.Response") -> Iterator[ToolInvokeMessage]:
    """Reads an answer: JSON as JSON, texts as texts, everything else as a file for the user.

    Raises:
        HttpFailure: It is an error; the text has the status and the beginning of the body.
        LimitExceededError: It is too large.
    """
    if response.status_code >= _ERROR:
        raise HttpFailure(_error_text(response, await beginning_of(response, _ERROR_BYTES)))
    if response.status_code >= _REDIRECT:
        return _elsewhere(response)
    body = await body_of(response, MAX_BYTES, _too_large)
    if not body:
        return iter([text_message(f"HTTP {response.status_code}: done; there is no more to it")])
    return _of_body(response, body)


def _of_body(response: "httpx2.Response", body: bytes) -> Iterator[ToolInvokeMessage]:
    kind = _kind(response)
    if kind.endswith("json") or (not kind and body.lstrip()[:1] in (b"{", b"[")):
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            value = None  # it says that it is JSON, and is not
        if isinstance(value, dict | list):
            yield json_message(value)
            return
    if _TEXTS.match(kind) or not kind:
        try:
            yield text_message(body.decode(response.charset_encoding or "utf-8"))
            return
        except (UnicodeDecodeError, LookupError):
            if kind:
                yield text_message(body.decode("utf-8", "replace"))
                return
    yield blob_message(body, mime_type=kind or mime_type_of(body), filename=_file_name(response))


def _elsewhere(response: "httpx2.Response") -> Iterator[ToolInvokeMessage]:
    """A redirect is not followed, since keys and arguments were meant for this address; it is given as a link."""
    location = response.headers.get("location", "")
    if not location:
        raise HttpFailure(f"HTTP {response.status_code} {response.reason_phrase}, without an address to go to")
    yield text_message(f"HTTP {response.status_code}: what was asked for is at another address")
    yield url_message(urljoin(str(response.request.url), location))


def _error_text(response: "httpx2.Response", body: bytes) -> str:
    text = f"HTTP {response.status_code} {response.reason_phrase}".rstrip()
    if wait := response.headers.get("retry-after"):
        text += f" (try again after {wait[:40]})"
    excerpt = body.decode("utf-8", "replace").strip()
    if _kind(response) == "text/html":
        excerpt = " ".join(re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", excerpt).split())
    if b"\0" in body[:_MOST_EXCERPT] or not excerpt:
        return text
    more = f"... (of {len(body):,} bytes)" if len(excerpt) > _MOST_EXCERPT else ""
    return f"{text}: {excerpt[:_MOST_EXCERPT]}{more}"


def _too_large() -> LimitExceededError:
    return LimitExceededError(f"the answer has more than {MAX_BYTES:,} bytes; ask for less, or for a part of it")


def _kind(response: "httpx2.Response") -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def _file_name(response: "httpx2.Response") -> str | None:
    found = _FILE_NAME.search(response.headers.get("content-disposition", ""))
    if found:
        return unquote(found[1]).replace("\\", "/").rpartition("/")[2] or None
    return unquote(response.request.url.path.rstrip("/").rpartition("/")[2]) or None
