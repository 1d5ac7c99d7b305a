"""Gets an OpenAPI document, from a file or an address."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import orjson

from enfilade.secrecy.address import shown_address
from enfilade.tools.openapi.failure import DocumentError
from enfilade.tools.openapi.settings import is_http
from enfilade.tools.openapi.yaml_text import read_yaml
from enfilade.tools.web_client import body_of, web_client

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 32 * 1024 * 1024
"""Bytes of a document; the largest published ones have half of that."""

READ_SECONDS = 30.0
"""Seconds to wait for each piece of a document that is fetched."""

_MOST_REDIRECTS = 5
_OK, _REDIRECTS = 200, (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Document:
    """A document.

    Attributes:
        root: Its value.
        shown: What it is called in texts.
        url: Where it was fetched; empty for a file.
    """

    root: dict[str, Any]
    shown: str
    url: str = ""


async def read_document(where: str, folder: Path) -> Document:
    """Gets a document and checks that it is one.

    Args:
        where: A path or an address.
        folder: Where relative paths start.

    Raises:
        DocumentError: It cannot be had, or is no OpenAPI document of version 3.
    """
    if is_http(where):
        url, data = await _fetched(where)
    else:
        url, data = "", await asyncio.to_thread(_read, where, folder)
    shown = shown_address(where)
    return Document(await asyncio.to_thread(_root, data, shown), shown, url)


def _read(where: str, folder: Path) -> bytes:
    path = folder / Path(where).expanduser()
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DocumentError(f"the OpenAPI document {where} has {size:,} bytes, above the limit of {MAX_BYTES:,}")
        return path.read_bytes()
    except OSError as error:
        raise DocumentError(f"the OpenAPI document {where!r} cannot be read: {error.strerror}") from None


async def _fetched(where: str) -> tuple[str, bytes]:
    """Its last address, after redirects, and its bytes. Nothing secret goes with the request."""
    import httpx2

    url = where
    async with await web_client(where, read_seconds=READ_SECONDS) as client:
        try:
            for _ in range(_MOST_REDIRECTS + 1):
                async with client.stream("GET", url, headers={"accept": "application/json, */*"}) as response:
                    target = response.headers.get("location")
                    if response.status_code not in _REDIRECTS or not target:
                        return url, await _body(response, where)
                    url = urljoin(url, target)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise DocumentError(f"the OpenAPI document {shown_address(where)} cannot be fetched: {reason}") from None
    shown, last = shown_address(where), shown_address(url)
    raise DocumentError(f"the OpenAPI document {shown} cannot be fetched: it is always elsewhere, last at {last}")


async def _body(response: "httpx2.Response", where: str) -> bytes:
    if response.status_code != _OK:
        shown = shown_address(where)
        raise DocumentError(
            f"the OpenAPI document {shown} cannot be fetched: HTTP {response.status_code} {response.reason_phrase}"
        )
    too_large = f"the OpenAPI document {where} has more than {MAX_BYTES:,} bytes"
    return await body_of(response, MAX_BYTES, lambda: DocumentError(too_large))


def _root(data: bytes, shown: str) -> dict[str, Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DocumentError(f"{shown} is no OpenAPI document: expected UTF-8 text") from None
    root = _json(text, shown) if text.lstrip().startswith("{") else read_yaml(text, shown)
    if not isinstance(root, dict):
        raise DocumentError(f"{shown} is no OpenAPI document: expected an object, got {type(root).__name__}")
    version = root.get("openapi")
    if "swagger" in root and version is None:
        raise DocumentError(f"{shown} is Swagger {root['swagger']}; expected OpenAPI 3.0 or 3.1: convert it")
    if not str(version).startswith("3."):
        raise DocumentError(f"{shown} is no OpenAPI document: expected openapi: 3.0 or 3.1, got {str(version)[:40]!r}")
    if not isinstance(root.get("paths"), dict):
        raise DocumentError(f"{shown} describes no paths")
    return root


def _json(text: str, shown: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        try:
            return json.loads(text)  # numbers of any size
        except (ValueError, RecursionError):
            raise DocumentError(f"{shown} is not valid JSON: {error}") from None
