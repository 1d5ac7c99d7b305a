"""A real PostgreSQL server that the tests start themselves, on a free port of 127.0.0.1, and that ends with them."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it has no types
import pytest

READY = "database system is ready to accept connections"

SECONDS = 30
"""How long anything here may take."""

MISSING = (
    "the store's tests need a PostgreSQL server's programs (initdb, postgres), version 13 or newer, and found none on "
    "the PATH or in /usr/lib/postgresql; run .ci/postgres, which installs them with apt-get, and try again"
)


class PostgresServer:
    """One server with its own data folder. It can be stopped and started again, and keeps its port and data then."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._port = _free_port()
        self._reader: threading.Thread | None = None
        self._log: list[str] = []

    def make(self) -> None:
        """Makes the data folder."""
        place = [str(self._programs / "initdb"), "-D", self._data, "-U", "enfilade", "--auth=trust"]
        quick = ["--no-sync", "--locale=C", "--encoding=UTF8"]
        subprocess.run([*as_user(), *place, *quick], check=True, capture_output=True, timeout=SECONDS, cwd="/")

    def start(self) -> None:
        """Starts it, unless it runs, and waits until it answers."""
        if self._process is not None:
            return
        quick = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200"]
        place = ["-D", self._data, "-p", str(self._port), "-h", "127.0.0.1", "-k", ""]
        command = [*as_user(), str(self._programs / "postgres"), *place, *quick]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd="/")
        ready = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self._process, ready), daemon=True)
        self._reader.start()
        if not ready.wait(SECONDS) or self._process.poll() is not None:
            self.stop()
            raise RuntimeError("PostgreSQL did not start:\n" + "".join(self._log[-20:]))

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stops it: SIGINT ends its connections and then it; SIGQUIT is a crash."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        process.wait(SECONDS)
        assert self._reader is not None
        self._reader.join(SECONDS)
        assert process.stderr is not None
        process.stderr.close()

    async def database(self) -> str:
        """The address of an empty database. It is one and the same, emptied: a folder of files for each takes long."""
        async with self.session(self.address("postgres")) as session:
            if not await session.fetchval("SELECT 1 FROM pg_database WHERE datname = 'records'"):
                await session.execute("CREATE DATABASE records")
        async with self.session(self.address("records")) as session:
            await session.execute("DROP SCHEMA IF EXISTS enfilade CASCADE")
        return self.address("records").replace("postgresql://", "postgresql+asyncpg://")

    @contextlib.asynccontextmanager
    async def session(self, address: str) -> AsyncIterator[Any]:
        """A connection of the test's own to a database."""
        connection = await asyncpg.connect(address.replace("+asyncpg", ""))
        try:
            yield connection
        finally:
            await connection.close()

    def address(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql://enfilade@127.0.0.1:{self._port}/{database}"

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _read(self, process: "subprocess.Popen[str]", ready: threading.Event) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self._log.append(line)
            if READY in line:
                ready.set()
        ready.set()


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A running server; it and its folder are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="enfilade-postgres-") as folder:
        server = PostgresServer(programs(), Path(folder))
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop(signal.SIGQUIT)  # nobody needs its data any more


def programs() -> Path:
    """The folder of the server's programs; the newest version's where there are several.

    Where there are none the tests that need them are skipped; in CI, which installs them, that is a failure.
    """
    if (found := shutil.which("postgres")) and shutil.which("initdb"):
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if not folders:
        if os.environ.get("CI"):
            raise AssertionError(MISSING)
        pytest.skip(MISSING)
    return folders[-1].parent


def as_user() -> list[str]:
    """What to begin a command with: the server refuses root, and the kernel is to stop it when the tests are killed.

    Unlike `runuser`, `setpriv` becomes the command, so that signals reach it.
    """
    if shutil.which("setpriv") is None:
        return []
    user = ["--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
    return ["setpriv", *user, "--pdeathsig", "INT"]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
