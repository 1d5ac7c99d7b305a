"""A real `/v1/embeddings` endpoint on loopback. Texts of one subject have vectors that are near to one another."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SUBJECTS = (
    ("fee", "price", "cost", "pound", "pay", "money"),
    ("tide", "water", "sea", "high", "wave"),
    ("dog", "animal", "pet", "walrus", "beast"),
)


def vector_of(text: str) -> list[float]:
    """One number for each subject, and one that all texts have."""
    return [float(sum(text.lower().count(word) for word in words)) for words in SUBJECTS] + [0.1]


class EmbeddingServer:
    """Answers in the form of the OpenAI API.

    Attributes:
        requests: The bodies that came, each with the headers, in lower case.
        failures: Statuses to answer with before the next proper answer.
        body: What to answer instead of vectors.
    """

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.requests: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.failures: list[int] = []
        self.body: bytes | None = None

    @property
    def texts(self) -> list[str]:
        """All texts that came."""
        return [text for body, _ in self.requests for text in body["input"]]

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, bytes]:
        """Status and body of an answer."""
        self.requests.append((body, headers))
        if path != "/v1/embeddings":
            return 404, b'{"error": {"message": "no such path"}}'
        if self.failures:
            status = self.failures.pop(0)
            said = f"no, says {headers.get('authorization', 'nobody')}"
            return status, json.dumps({"error": {"message": said}}).encode()
        return 200, self.body if self.body is not None else json.dumps({"data": self._data(body["input"])}).encode()

    def _data(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        data = [{"index": place, "embedding": vector_of(text)} for place, text in enumerate(texts)]
        return data[::-1]  # the order is what `index` says


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A running endpoint."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, data = made.answer(self.path, given, headers)
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the handler's form
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = EmbeddingServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
