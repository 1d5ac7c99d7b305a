"""Serves `/metrics` to Prometheus, from one thread."""

import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar

from enfilade.telemetry.exposition import CONTENT_TYPE

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler, HTTPServer

_PATIENCE = 5.0
"""Seconds that a client has to say what it wants; the next one waits for so long."""


class MetricsPage:
    """One page at one address. Whoever reaches the address may read it.

    Args:
        address: `HOST:PORT`; port 0 takes any that is free.
        text: What the page says.
    """

    def __init__(self, address: str, text: Callable[[], str]) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host.strip("[]"), int(port))
        self._text = text
        self._server: HTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port, once it is open."""
        assert self._server is not None
        return int(self._server.server_address[1])

    def open(self) -> None:
        """Begins to serve.

        Raises:
            OSError: The address cannot be had.
        """
        from http.server import HTTPServer  # 30 ms that a host without this page need not take

        self._server = HTTPServer(self._address, _handler(self._text))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends it; waits for a request that is being answered."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


def _handler(text: Callable[[], str]) -> "type[BaseHTTPRequestHandler]":
    from http.server import BaseHTTPRequestHandler

    class Handler(BaseHTTPRequestHandler):
        timeout: ClassVar[float] = _PATIENCE

        def do_GET(self) -> None:
            if self.path.partition("?")[0] not in ("/metrics", "/"):
                self.send_error(HTTPStatus.NOT_FOUND, "there is /metrics")
                return
            body = text().encode()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name that is called
            """Says nothing of requests."""

    return Handler
