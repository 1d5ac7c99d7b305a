"""Carries the client's requests over aiohttp, whose reader of answers is written in C."""

import asyncio
import io
import ssl
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import aiohttp
    import httpx2

PARTS = "enfilade.parts"
"""The name under which a response's extensions hold the `Parts` of its body."""

_CONNECTIONS = 1000
_IDLE_SECONDS = 15.0
_HEAD_LIMIT = 64 * 2**10
_WRITTEN_AT_ONCE = 64 * 2**10


def aiohttp_transport(context: ssl.SSLContext) -> "httpx2.AsyncBaseTransport | None":
    """A transport that goes straight to where a request is addressed; None when aiohttp is not installed.

    Args:
        context: How certificates are checked.
    """
    try:
        import aiohttp  # noqa: F401 - seconds of import belong into the thread that makes the client
    except ImportError:
        return None
    import httpx2

    class Body(httpx2.AsyncByteStream):
        def __init__(self, parts: Parts) -> None:
            self._parts = parts

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._parts

        async def aclose(self) -> None:
            await self._parts.aclose()

    class Transport(httpx2.AsyncBaseTransport):
        def __init__(self) -> None:
            self._carrier = Carrier(context)

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            parts = await self._carrier.send(request)
            head = parts.response
            extensions = {"http_version": b"HTTP/1.1", "reason_phrase": (head.reason or "").encode(), PARTS: parts}
            return httpx2.Response(head.status, headers=head.raw_headers, stream=Body(parts), extensions=extensions)

        async def aclose(self) -> None:
            await self._carrier.aclose()

    return Transport()


class Parts:
    """The body of an answer as it comes, in whatever parts are at hand.

    Attributes:
        response: The answer it is the body of.
    """

    __slots__ = ("_content", "response")

    def __init__(self, response: "aiohttp.ClientResponse") -> None:
        self.response = response
        self._content = response.content

    def __aiter__(self) -> "Parts":
        return self

    async def __anext__(self) -> bytes:
        """The next bytes.

        Raises:
            httpx2.TransportError: The connection broke, or nothing came for as long as the request allows. What came
                before that is given out first.
        """
        content = self._content
        try:
            part = await content.readany()
        except Exception as error:
            content.set_exception(None)  # type: ignore[arg-type]  # or it keeps what came before the error to itself
            part = content.read_nowait()
            content.set_exception(error)
            if not part:
                raise _in_words_of_the_client(error) from error
        if not part:
            raise StopAsyncIteration
        return part

    @property
    def is_over(self) -> bool:
        """Whether all of it was given out."""
        return self._content.at_eof()

    async def aclose(self) -> None:
        """Closes the connection, unless the answer was read to its end and the connection serves others by now."""
        self.response.close()


class Carrier:
    """A pool of connections, which belongs to the event loop of the first request."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: "httpx2.Request") -> Parts:
        """Sends a request; the answer's head has come when this returns.

        Raises:
            httpx2.TransportError: It could not be sent, or no answer came in time.
        """
        session = self._session or self._open()
        content = await request.aread()
        timeout = request.extensions.get("timeout", {})
        url = request.url
        try:
            async with asyncio.timeout(_patience(timeout, len(content))):
                response = await session.request(
                    request.method,
                    f"{url.scheme}://{url.netloc.decode('ascii')}{url.raw_path.decode('ascii')}",
                    headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw],
                    data=io.BytesIO(content) if len(content) > _WRITTEN_AT_ONCE else content or None,
                    allow_redirects=False,
                    timeout=_limits(timeout),
                )
        except Exception as error:
            raise _in_words_of_the_client(error) from error
        return Parts(response)

    async def aclose(self) -> None:
        """Closes all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._context, limit=_CONNECTIONS, keepalive_timeout=_IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=_HEAD_LIMIT,
            max_field_size=_HEAD_LIMIT,
        )
        return self._session


def _limits(timeout: dict[str, float | None]) -> "aiohttp.ClientTimeout":
    import aiohttp

    return aiohttp.ClientTimeout(
        connect=timeout.get("pool"), sock_connect=timeout.get("connect"), sock_read=timeout.get("read")
    )


def _patience(timeout: dict[str, float | None], size: int) -> float | None:
    """How long to wait for an answer's head when a request does not fit the buffers: nobody may ever read it."""
    if size <= _WRITTEN_AT_ONCE:
        return None
    limits = [timeout.get(name) for name in ("pool", "write", "read")]
    return sum(limit for limit in limits if limit is not None) if all(limits) else None


def _in_words_of_the_client(error: Exception) -> Exception:
    """The error of the client's library that says what an error of aiohttp says; what it does not know stays."""
    import aiohttp
    import httpx2

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return httpx2.ConnectTimeout("no connection in time")
    if isinstance(error, TimeoutError):
        return httpx2.ReadTimeout("no answer in time")
    if isinstance(error, aiohttp.ClientConnectorError):
        return httpx2.ConnectError(str(error))
    if isinstance(error, aiohttp.ClientPayloadError):
        return httpx2.RemoteProtocolError("the other side closed it too early")
    if isinstance(error, aiohttp.ClientError | OSError | RuntimeError):  # the last of them when it was closed here
        return httpx2.ReadError(str(error) or type(error).__name__)
    return error
