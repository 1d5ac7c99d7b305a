"""The openai client of one endpoint, made to cost little."""

import ssl
from collections.abc import AsyncIterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit

from enfilade.models.address import Address, is_loopback
from enfilade.models.transport import aiohttp_transport

if TYPE_CHECKING:
    import httpx2

_CONNECT_SECONDS = 10.0
_ERROR_BODY_LIMIT = 64 * 2**10
_PROXIED = frozenset({"http", "https", "all"})
_ADDED = ("accept-encoding", "connection")
_ADDRESSES = 16
_PLAIN = frozenset({"content", "files", "headers", "params", "timeout"})
_ABOUT_US = (
    "Lang",
    "Package-Version",
    "OS",
    "Arch",
    "Runtime",
    "Runtime-Version",
    "Async",
    "Retry-Count",
    "Read-Timeout",
)
"""What the client would tell every endpoint in `X-Stainless-...` headers: nobody asked for it, and each costs time."""


class EndpointClient:
    """Asks one endpoint: authorization, retries before the first byte, `Retry-After`.

    Takes up to a second to make the first time, and 20 ms to read certificates: for a thread.

    Args:
        address: Where the endpoint is, and how it wants to be spoken to.
    """

    def __init__(self, address: Address) -> None:
        import httpx2
        import openai

        base_url, _, query = (address.base_url or "").partition("?")
        timeout = httpx2.Timeout(address.timeout, connect=min(address.timeout, _CONNECT_SECONDS))
        self._openai = openai.AsyncOpenAI(
            api_key=address.api_key,
            base_url=base_url or None,
            default_query=dict(parse_qsl(query)),
            default_headers=dict(address.headers),
            timeout=timeout,
            max_retries=address.max_retries,
            http_client=_http_client(timeout, address.base_url),
        )
        self._base = str(self._openai.base_url)
        self._form: dict[str, Any] = {"cast_to": httpx2.Response, "stream_cls": openai.AsyncStream[object]}
        # All of them, although most are what the client has anyway: it copies deeply what is left out.
        self._options: openai.RequestOptions = {
            "headers": {f"X-Stainless-{name}": openai.Omit() for name in _ABOUT_US},
            "max_retries": address.max_retries,
            "params": {},
            "security": {"bearer_auth": True},
            "timeout": timeout,
        }

    async def post(self, path: str, body: bytes) -> "httpx2.Response":
        """Sends a request; its answer has begun when this returns.

        Args:
            path: The path below the base URL. The client is given the whole URL: joining takes it twice as long.
            body: JSON.

        Raises:
            openai.OpenAIError: There was no answer, or one that refuses.
        """
        response = await self._openai.post(
            f"{self._base}{path}", content=body, stream=True, options=self._options, **self._form
        )
        return cast("httpx2.Response", response)  # `cast_to` wins over `stream_cls` for a bare response

    async def close(self) -> None:
        """Closes all connections."""
        await self._openai.close()


def _http_client(timeout: "httpx2.Timeout", base_url: str | None) -> "httpx2.AsyncClient":
    """What carries the openai client's requests."""
    import httpx2
    import openai

    class HttpClient(openai.DefaultAsyncHttpxClient):
        def build_request(self, method: str, url: httpx2.URL | str, **given: Any) -> httpx2.Request:
            """Does what the parent does; in a third of the time, where there is nothing to be merged or encoded."""
            if given.keys() != _PLAIN or given["params"] or given["files"]:
                return super().build_request(method, url, **given)
            headers = [*given["headers"], *((name, self.headers[name]) for name in _ADDED)]
            more = {"content": given["content"], "extensions": {"timeout": given["timeout"].as_dict()}}
            return httpx2.Request(method, whole(url), headers=headers, cookies=self.cookies, **more)

    whole = lru_cache(_ADDRESSES)(httpx2.URL)
    return HttpClient(timeout=timeout, event_hooks={"response": [_bound_error]}, **_routes(base_url))


def _routes(base_url: str | None) -> dict[str, Any]:
    """Over aiohttp, where the way is straight; any proxy is left to the client, which knows all kinds of them.

    Loopback never goes through a proxy of the environment. Plain HTTP to it needs no certificates (20 ms to read).
    """
    from urllib.request import getproxies  # its imports take 70 ms

    import httpx2

    url = urlsplit(base_url or "")
    is_near = is_loopback(url.hostname or "")
    if not is_near and not _PROXIED.isdisjoint(getproxies()):
        return {}
    plain = is_near and url.scheme == "http"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx2.create_ssl_context()
    transport = aiohttp_transport(context)
    return {"trust_env": False, **({"verify": context} if transport is None else {"transport": transport})}


async def _bound_error(response: "httpx2.Response") -> None:
    """Keeps the client from reading an error body without end."""
    if response.is_error:
        import httpx2

        if isinstance(response.stream, httpx2.AsyncByteStream):
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
