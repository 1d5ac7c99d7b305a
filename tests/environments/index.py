"""A package index on this machine, of wheels in a folder, that may hold back a file for ever."""

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


class Index(ThreadingHTTPServer):
    """Serves `/simple/NAME/` and `/files/FILE`.

    Attributes:
        asked: Set when a file that is held back was asked for.
        seen: The `Authorization` headers of all requests.
        swapped: Contents that are served instead of the files', by name.
        with_metadata: Whether metadata is served apart (PEP 658), with the files' hashes, as large indexes do.
    """

    daemon_threads = True

    def __init__(self, folder: Path, held_back: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.held_back = held_back
        self.asked = threading.Event()
        self.over = threading.Event()
        self.seen: set[str | None] = set()
        self.swapped: dict[str, bytes] = {}
        self.with_metadata = True

    def url(self, user: str = "") -> str:
        """The address of the index."""
        return f"http://{user}127.0.0.1:{self.server_address[1]}/simple"


class _Handler(BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        self.server.seen.add(self.headers.get("Authorization"))
        kind, _, name = unquote(self.path).strip("/").partition("/")
        if kind == "files" and name == self.server.held_back:
            self.server.asked.set()
            self.server.over.wait(60)
        elif kind == "files" and name.endswith(".metadata"):
            self._send(_metadata(self.server.folder / name.removesuffix(".metadata")), "text/plain")
        elif kind == "files":
            self._send(self.server.swapped.get(name) or (self.server.folder / name).read_bytes(), "application/zip")
        else:
            self._send(self._page(name).encode(), "text/html")

    def do_HEAD(self) -> None:
        self.send_error(405)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        """Says nothing."""

    def _page(self, project: str) -> str:
        files = sorted(self.server.folder.glob(f"{project.replace('-', '_')}-*.whl"))
        return "<!DOCTYPE html><html><body>" + "".join(self._link(file) for file in files)

    def _link(self, file: Path) -> str:
        if not self.server.with_metadata:
            return f'<a href="/files/{file.name}">{file.name}</a>'
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        return f'<a href="/files/{file.name}#sha256={digest}" data-core-metadata="true">{file.name}</a>'

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _metadata(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return next(archive.read(name) for name in archive.namelist() if name.endswith(".dist-info/METADATA"))


@contextmanager
def serving(folder: Path, held_back: str = "") -> Iterator[Index]:
    """An index that serves as long as the block lasts."""
    with Index(folder, held_back) as index:
        thread = threading.Thread(target=index.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield index
        finally:
            index.over.set()
            index.shutdown()
            thread.join()
