"""The client of one endpoint: key, headers, proxies, certificates."""

import ipaddress
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from enfilade.models.failures import Failures
from enfilade.models.settings import ModelSettings

if TYPE_CHECKING:
    import httpx2
    import openai

_PLACEHOLDER = "no-key"
_OPENAI_HOST = "api.openai.com"
_CONNECT_SECONDS = 10.0
_ERROR_BODY_LIMIT = 64 * 2**10


@dataclass(frozen=True, slots=True)
class Address:
    """How an endpoint is reached; models with equal addresses share a client. Holds secrets: never print it."""

    base_url: str | None
    api_key: str
    headers: tuple[tuple[str, str], ...]
    timeout: float
    max_retries: int

    def __repr__(self) -> str:
        return f"Address({self.base_url!r})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in any text."""
        return tuple(value for value in (self.api_key, *dict(self.headers).values()) if value != _PLACEHOLDER)


def address_of(model: ModelSettings, environ: Mapping[str, str] = os.environ) -> Address:
    """Reads key and headers of a model from the environment.

    Raises:
        ModelFailedError: A variable that the settings name is not set, or OpenAI's own endpoint has no key.
    """
    base_url = model.base_url or environ.get("OPENAI_BASE_URL") or None
    failures = Failures(model, base_url=base_url or "")
    names = {header: name for header, name in model.headers_env.items() if not environ.get(name)}
    if names:
        header, name = next(iter(names.items()))
        raise failures.failed(
            f"the environment variable {name}, which should hold the header {header!r}, is not set",
            kind="configuration",
        )
    headers = tuple((header, environ[name]) for header, name in model.headers_env.items())
    return Address(base_url, _key(model, base_url, environ, failures), headers, model.timeout, model.max_retries)


def _key(model: ModelSettings, base_url: str | None, environ: Mapping[str, str], failures: Failures) -> str:
    name = model.api_key_env
    if name is None:
        is_openai = base_url is None or urlsplit(base_url).hostname == _OPENAI_HOST
        if not is_openai:
            return _PLACEHOLDER
        name = "OPENAI_API_KEY"
    key = environ.get(name, "").strip()
    if not key:
        raise failures.failed(
            f"the environment variable {name}, which should hold the API key, is not set: set it, or name another one "
            "with api_key_env",
            kind="configuration",
        )
    if not key.isascii() or not key.isprintable():
        raise failures.failed(f"the API key in {name} holds characters that no key has", kind="configuration")
    return key


def build_client(address: Address) -> "openai.AsyncOpenAI":
    """Makes the openai client. Takes up to a second the first time, and 20 ms to read certificates: for a thread."""
    import httpx2
    import openai

    base_url, _, query = (address.base_url or "").partition("?")
    timeout = httpx2.Timeout(address.timeout, connect=min(address.timeout, _CONNECT_SECONDS))
    return openai.AsyncOpenAI(
        api_key=address.api_key,
        base_url=base_url or None,
        default_query=dict(parse_qsl(query)),
        default_headers=dict(address.headers),
        timeout=timeout,
        max_retries=address.max_retries,
        http_client=openai.DefaultAsyncHttpxClient(
            timeout=timeout, event_hooks={"response": [_bound_error]}, **_routes(address.base_url)
        ),
    )


def _routes(base_url: str | None) -> dict[str, Any]:
    """Loopback never goes through a proxy of the environment; plain HTTP needs no certificates (20 ms to read)."""
    url = urlsplit(base_url or "")
    if not url.hostname or not is_loopback(url.hostname):
        return {}
    if url.scheme == "http":
        return {"trust_env": False, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
    return {"mounts": {f"all://{url.hostname}": None}}


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _bound_error(response: "httpx2.Response") -> None:
    """Keeps the client from reading an error body without end."""
    import httpx2

    if response.is_error and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _first_bytes(response.stream)


def _first_bytes(whole: "httpx2.AsyncByteStream") -> "httpx2.AsyncByteStream":
    """The beginning of a stream, as a stream."""
    import httpx2

    class FirstBytes(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = _ERROR_BODY_LIMIT
            async for part in whole:
                yield part[:left]
                left -= len(part)
                if left <= 0:
                    return

        async def aclose(self) -> None:
            await whole.aclose()

    return FirstBytes()
