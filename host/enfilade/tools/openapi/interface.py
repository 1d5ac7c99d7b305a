"""An HTTP interface: sends the requests of its operations."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from enfilade.secrecy.address import shown_address
from enfilade.tools.openapi.failure import HttpFailure
from enfilade.tools.openapi.quiet_log import QuietLog
from enfilade.tools.openapi.request import Request
from enfilade.tools.openapi.settings import Credentials
from enfilade.tools.web_client import web_client

if TYPE_CHECKING:
    import httpx2

_QUERY = re.compile(r"\?.*")


class Interface:
    """Where the operations of a document are.

    Args:
        base_url: Its address.
        credentials: What goes with every request.
    """

    def __init__(self, base_url: str, credentials: Credentials) -> None:
        self.base_url = base_url
        self.credentials = credentials
        self._quiet = QuietLog(credentials.secrets)
        self._client: httpx2.AsyncClient | None = None

    async def open(self) -> None:
        """Makes the client; nothing is sent yet."""
        self._client = await web_client(self.base_url)
        self._quiet.open()

    async def close(self) -> None:
        """Closes the connections."""
        client, self._client = self._client, None
        if client is not None:
            self._quiet.close()
            await client.aclose()

    @asynccontextmanager
    async def answered(self, request: Request) -> "AsyncIterator[httpx2.Response]":
        """Sends a request; the answer's body is not read yet.

        Raises:
            HttpFailure: The interface cannot be reached, or broke off.
        """
        import httpx2

        if self._client is None:
            raise HttpFailure("its connections were closed")
        try:
            async with self._client.stream(
                request.method, request.url, headers=request.headers, content=request.content
            ) as response:
                yield response
        except httpx2.InvalidURL:
            raise HttpFailure(f"{_QUERY.sub('', request.url)} is no address") from None
        except httpx2.HTTPError as error:
            words = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise HttpFailure(f"{shown_address(self.base_url)} could not be reached: {words}") from None
