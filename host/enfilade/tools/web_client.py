"""HTTP clients for tools that are behind an address."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from enfilade.loopback import is_loopback

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 10.0
"""Seconds a connection may take to come about."""


async def web_client(
    url: str, *, headers: Mapping[str, str] | None = None, read_seconds: float | None = None
) -> "httpx2.AsyncClient":
    """A client for one address. It follows no redirect, since headers and keys were meant for this address.

    Loopback is never reached through a proxy of the environment.

    Args:
        url: The address; other addresses of its host are served as well.
        headers: Headers of every request.
        read_seconds: Seconds to wait for the next piece of an answer; None waits as long as the caller does.
    """
    return await asyncio.to_thread(_made, url, dict(headers or {}), read_seconds)


def _made(url: str, headers: dict[str, str], read_seconds: float | None) -> "httpx2.AsyncClient":
    """Takes 0.2 s the first time, and 20 ms to read certificates: for a thread."""
    import httpx2

    timeout = httpx2.Timeout(read_seconds, connect=CONNECT_SECONDS)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, limits=limits, **_routes(url))


def _routes(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if not is_loopback(parts.hostname or ""):
        return {}
    if parts.scheme == "http":
        return {"trust_env": False, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
    return {"mounts": {f"all://{parts.hostname}": None}}


async def body_of(response: "httpx2.Response", limit: int, too_large: Callable[[], Exception]) -> bytes:
    """The whole body of an answer.

    Args:
        response: The answer, of which nothing has been read.
        limit: The most bytes there may be.
        too_large: Makes the error for a body that is over the limit.
    """
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > limit:
            raise too_large()
    return bytes(body)


async def beginning_of(response: "httpx2.Response", limit: int) -> bytes:
    """The first bytes of an answer's body."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > limit:
            break
    return bytes(body[:limit])
