"""Carries requests to endpoints over aiohttp, whose reader of answers is written in C."""

import asyncio
import io
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import aiohttp
    import httpx2

_CONNECTIONS = 1000
_IDLE_SECONDS = 15.0
_HEAD_LIMIT = 64 * 2**10
_WRITTEN_AT_ONCE = 64 * 2**10


@dataclass(frozen=True, slots=True)
class Letter:
    """A request without its body.

    Attributes:
        method: Such as `POST`.
        url: The whole URL; user and password are in the headers.
        headers: All of them, but for the body's length.
        limits: Seconds to wait for a connection, and for each piece of the answer.
        patience: Seconds to wait for the head of the answer where the body does not fit the buffers, because nobody may
            ever read it; None is for ever.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    limits: "aiohttp.ClientTimeout"
    patience: float | None

    def with_more(self, headers: Mapping[str, str]) -> "Letter":
        """The same letter with further headers."""
        return replace(self, headers=(*self.headers, *headers.items()))

    def without(self, names: Collection[str]) -> "Letter":
        """The same letter without the headers of these names."""
        return replace(self, headers=tuple(pair for pair in self.headers if pair[0].lower() not in names))


def letter_of(request: "httpx2.Request") -> Letter:
    """What can be sent again, with another body, from a request as the client's library would have it sent."""
    import aiohttp

    timeout: dict[str, float | None] = request.extensions.get("timeout", {})
    seconds = [timeout.get(name) for name in ("pool", "write", "read")]
    headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
    url = request.url
    return Letter(
        method=request.method,
        url=f"{url.scheme}://{url.netloc.decode('ascii')}{url.raw_path.decode('ascii')}",
        headers=tuple((name, value) for name, value in headers if name.lower() != "content-length"),
        limits=aiohttp.ClientTimeout(connect=seconds[0], sock_connect=timeout.get("connect"), sock_read=seconds[2]),
        patience=sum(each for each in seconds if each is not None) if all(seconds) else None,
    )


class Carrier:
    """A pool of connections, which belongs to the event loop of the first letter.

    Args:
        context: How certificates are checked.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._session: aiohttp.ClientSession | None = None

    async def send(self, letter: Letter, content: bytes) -> "Parts":
        """Sends a letter with its body; the answer's head has come when this returns. Redirects are not followed.

        Raises:
            httpx2.TransportError: It could not be sent, or no answer came in time.
        """
        session = self._session or self._open()
        is_long = len(content) > _WRITTEN_AT_ONCE
        try:
            async with asyncio.timeout(letter.patience if is_long else None):
                response = await session.request(
                    letter.method,
                    letter.url,
                    headers=letter.headers,
                    data=io.BytesIO(content) if is_long else content or None,
                    allow_redirects=False,
                    timeout=letter.limits,
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
            httpx2.TransportError: The connection broke, or nothing came for as long as the letter allows. What came
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

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to the answer but its body, as it stands."""
        head = self.response.headers
        return self.response.status == 200 and "content-encoding" not in head and "set-cookie" not in head  # noqa: PLR2004

    async def aclose(self) -> None:
        """Closes the connection, unless the answer was read to its end and the connection serves others by now."""
        self.response.close()


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
    if isinstance(error, aiohttp.ClientResponseError):
        return httpx2.RemoteProtocolError(" ".join(error.message.split()))
    if isinstance(error, aiohttp.ClientPayloadError):
        return httpx2.RemoteProtocolError("the other side closed it too early")
    if isinstance(error, aiohttp.ClientError | OSError | RuntimeError):  # the last of them when it was closed here
        return httpx2.ReadError(str(error) or type(error).__name__)
    return error
