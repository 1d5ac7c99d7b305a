"""The openai client of one endpoint, made to cost little."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit

from enfilade.loopback import is_loopback
from enfilade.models.address import Address
from enfilade.models.carrier import Carrier, Letter, Parts, letter_of

if TYPE_CHECKING:
    import httpx2

_CONNECT_SECONDS = 10.0
_ERROR_BODY_LIMIT = 64 * 2**10
_PARTS = "enfilade.parts"
_PROXIED = frozenset({"http", "https", "all"})
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

_came: ContextVar[list[Parts | Exception]] = ContextVar("came")
"""What came of a request that was sent past the openai client, which then takes it for its own first try."""


class EndpointClient:
    """Asks one endpoint: authorization, redirects, retries before the first byte, `Retry-After`.

    All that is the openai client's work, but most answers need none of it, and writing a request takes the client as
    long as everything else that a request takes. So the first request of each kind is its own; the next ones are sent
    as it wrote that one. When what comes is anything but a plain answer, the client gets to see it, as what came of its
    own first try, and does what it would have done.

    Takes up to a second to make the first time, and 20 ms to read certificates: for a thread.

    Args:
        address: Where the endpoint is, and how it wants to be spoken to.
    """

    def __init__(self, address: Address) -> None:
        import httpx2
        import openai

        base_url, _, query = (address.base_url or "").partition("?")
        timeout = httpx2.Timeout(address.timeout, connect=min(address.timeout, _CONNECT_SECONDS))
        self._carrier, way = _way_to(address.base_url)
        self._http = openai.DefaultAsyncHttpxClient(timeout=timeout, event_hooks={"response": [_bound_error]}, **way)
        self._openai = openai.AsyncOpenAI(
            api_key=address.api_key,
            base_url=base_url or None,
            default_query=dict(parse_qsl(query)),
            default_headers=dict(address.headers),
            timeout=timeout,
            max_retries=address.max_retries,
            http_client=self._http,
        )
        self._form: dict[str, Any] = {
            "cast_to": httpx2.Response,
            "stream_cls": openai.AsyncStream[object],
            "options": {"headers": {f"X-Stainless-{name}": openai.Omit() for name in _ABOUT_US}},
        }
        self._letters: dict[str, Letter] = {}

    async def post(self, path: str, body: bytes, more: Mapping[str, str] | None = None) -> "Parts | httpx2.Response":
        """Sends a request; its answer has begun when this returns.

        Args:
            path: The path below the base URL.
            body: JSON.
            more: Headers of this request alone.

        Returns:
            The body of the answer where that is all there is to it, else the answer.

        Raises:
            openai.OpenAIError: There was no answer, or one that refuses.
        """
        letter = None if self._http.cookies else self._letters.get(path)
        if self._carrier is None or letter is None:
            return await self._asked(path, body, [], more or {})
        came = await _tried(self._carrier, letter.with_more(more) if more else letter, body)
        return came if isinstance(came, Parts) and came.is_plain else await self._asked(path, body, [came], more or {})

    async def close(self) -> None:
        """Closes all connections."""
        await self._openai.close()

    async def _asked(
        self, path: str, body: bytes, came: list[Parts | Exception], more: Mapping[str, str]
    ) -> "Parts | httpx2.Response":
        """Lets the openai client ask; what came already, if anything, is what came of its first try."""
        token = _came.set(came)
        form = (
            self._form
            if not more
            else {**self._form, "options": {"headers": {**self._form["options"]["headers"], **more}}}
        )
        try:
            response = cast(
                "httpx2.Response", await self._openai.post(f"/{path}", content=body, stream=True, **form)
            )  # `cast_to` wins over `stream_cls` for a bare response
        finally:
            _came.reset(token)
            for unseen in came:
                if isinstance(unseen, Parts):
                    await unseen.aclose()
        parts: Parts | None = response.extensions.get(_PARTS)
        if parts is None or not parts.is_plain:
            return response
        if not response.history and "cookie" not in response.request.headers:
            self._letters[path] = letter_of(response.request).without(more)
        return parts


async def _tried(carrier: Carrier, letter: Letter, body: bytes) -> Parts | Exception:
    import httpx2

    try:
        return await carrier.send(letter, body)
    except httpx2.TransportError as error:
        return error


def _way_to(base_url: str | None) -> tuple[Carrier | None, dict[str, Any]]:
    """Over aiohttp, where the way is straight; any proxy is left to the client, which knows all kinds of them.

    Loopback never goes through a proxy of the environment. Plain HTTP to it needs no certificates (20 ms to read).

    Returns:
        What carries requests, if it is ours; and what the client is to be told.
    """
    from urllib.request import getproxies  # its imports take 70 ms

    import httpx2

    url = urlsplit(base_url or "")
    is_near = is_loopback(url.hostname or "")
    if not is_near and not _PROXIED.isdisjoint(getproxies()):
        return None, {}
    plain = is_near and url.scheme == "http"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx2.create_ssl_context()
    try:
        import aiohttp  # noqa: F401 - what is imported here, in a thread, need not be on the event loop
    except ImportError:
        return None, {"trust_env": False, "verify": context}
    carrier = Carrier(context)
    return carrier, {"trust_env": False, "transport": _transport(carrier)}


def _transport(carrier: Carrier) -> "httpx2.AsyncBaseTransport":
    """A carrier in the form that the client knows."""
    import httpx2

    class Body(httpx2.AsyncByteStream):
        def __init__(self, parts: Parts) -> None:
            self._parts = parts

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._parts

        async def aclose(self) -> None:
            await self._parts.aclose()

    class Transport(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            came = _came.get([])
            parts = came.pop() if came else await carrier.send(letter_of(request), await request.aread())
            if isinstance(parts, Exception):
                raise parts
            head = parts.response
            extensions = {"http_version": b"HTTP/1.1", "reason_phrase": (head.reason or "").encode(), _PARTS: parts}
            return httpx2.Response(head.status, headers=head.raw_headers, stream=Body(parts), extensions=extensions)

        async def aclose(self) -> None:
            await carrier.aclose()

    return Transport()


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
