"""HTTP clients for tools that are behind an address."""

import asyncio
import ipaddress
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
