"""The request that a call of an operation comes to."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from enfilade.telemetry.place import outgoing
from enfilade.tools.json_value import compact_json
from enfilade.tools.openapi.arguments import Slot
from enfilade.tools.openapi.operation import Body, Operation
from enfilade.tools.openapi.serialising import in_form, in_header, in_path, in_query, plain
from enfilade.tools.openapi.settings import Credentials
from enfilade_sdk.errors import InvalidParamsError

ACCEPT = "application/json, */*;q=0.5"

_SEGMENT = re.compile(r"\{([^{}]*)\}")
_LINE_END = re.compile(r"[\r\n\0]")


@dataclass(frozen=True, slots=True)
class Request:
    """A request, ready to be sent. Holds secrets: never printed."""

    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None

    def __repr__(self) -> str:
        return f"Request({self.method})"


def request_of(
    operation: Operation, slots: Sequence[Slot], arguments: dict[str, Any], base_url: str, credentials: Credentials
) -> Request:
    """Writes arguments into a request.

    Args:
        operation: The operation.
        slots: Where each argument goes.
        arguments: The arguments, checked against their schema.
        base_url: Where the interface is.
        credentials: What goes with it.

    Raises:
        InvalidParamsError: A value would lead to another path, or cannot stand in a header.
    """
    given = [(slot, arguments[slot.name]) for slot in slots if slot.name in arguments]
    headers = {"accept": ACCEPT, **outgoing(), **_headers(given)}
    content = None
    if operation.body is not None and (body := _content(operation.body, given)) is not None:
        content, headers["content-type"] = body
    url = _url(operation, given, base_url, credentials.query)
    return Request(operation.method, url, headers | credentials.headers, content)


def _url(operation: Operation, given: list[tuple[Slot, Any]], base_url: str, more: dict[str, str]) -> str:
    parts = {
        slot.key: _path_part(slot, value) for slot, value in given if slot.parameter and slot.parameter.place == "path"
    }
    path = _SEGMENT.sub(lambda found: parts.get(found[1], ""), operation.path)
    if {".", ".."} & set(path.split("/")):
        raise InvalidParamsError(f"the values of {' and '.join(parts)} would lead to another path; give others")
    pairs = [
        pair
        for slot, value in given
        if slot.parameter and slot.parameter.place == "query"
        for pair in in_query(slot.parameter, value)
    ]
    base, _, own_query = base_url.partition("?")
    query = "&".join(filter(None, [own_query, urlencode([*pairs, *more.items()], quote_via=quote)]))
    return base.rstrip("/") + "/" + path.lstrip("/") + (f"?{query}" if query else "")


def _path_part(slot: Slot, value: Any) -> str:
    assert slot.parameter is not None
    text = in_path(slot.parameter, value)
    if not text:
        raise InvalidParamsError(f"{slot.name}: {plain(value)!r} cannot be a part of a path; give another value")
    return text


def _headers(given: list[tuple[Slot, Any]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    cookies: list[str] = []
    for slot, value in given:
        parameter = slot.parameter
        if parameter is None or parameter.place not in ("header", "cookie") or value is None:
            continue
        text = in_header(parameter, value)
        if _LINE_END.search(text) or not text.isascii():
            raise InvalidParamsError(f"{slot.name}: a {parameter.place} holds plain ASCII text in one line")
        if parameter.place == "header":
            headers[parameter.name] = text
        else:
            cookies.append(f"{parameter.name}={quote(text, safe='')}")
    return headers | ({"cookie": "; ".join(cookies)} if cookies else {})


def _content(body: Body, given: list[tuple[Slot, Any]]) -> tuple[bytes, str] | None:
    """The body's bytes and type; None for no body."""
    whole = [value for slot, value in given if slot.place == "body"]
    fields = {slot.key: value for slot, value in given if slot.place == "field"}
    if not whole and not fields and not body.required:
        return None
    value = whole[0] if whole else fields
    if body.kind == "json":
        return compact_json(value).encode(), body.media_type
    if body.kind == "text":
        return plain(value).encode(), _with_charset(body.media_type)
    pairs = [pair for key, part in _items(value) for pair in in_form(key, part)]
    if body.kind == "form":
        return urlencode(pairs, quote_via=quote).encode(), body.media_type
    return _multipart(pairs)


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(str(key), part) for key, part in value.items()] if isinstance(value, dict) else [("value", value)]


def _multipart(pairs: list[tuple[str, str]]) -> tuple[bytes, str]:
    mark = uuid4().hex
    parts = [
        f"--{mark}\r\ncontent-disposition: form-data; name={_quoted(key)}\r\n\r\n{text}\r\n" for key, text in pairs
    ]
    return "".join([*parts, f"--{mark}--\r\n"]).encode(), f"multipart/form-data; boundary={mark}"


def _quoted(name: str) -> str:
    return json.dumps(_LINE_END.sub(" ", name), ensure_ascii=False)


def _with_charset(media_type: str) -> str:
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") and ";" not in media_type else media_type
