"""Another host, as a process of its own: `python -m tests.store.other_host MODE URL`. It says on stdout how far it is.

Modes: `hold` begins a run, leaves a round and a call open, and waits; `ask` leaves a petition open and waits; `write`
appends rounds without end and says when each was appended; `lock` holds a SQLite file's lock; `open` opens the store
and says how that went. All end when their stdin does.
"""

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from enfilade.petition import Petition
from enfilade.store.errors import StoreError
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.store import Store
from enfilade_sdk.prompts import AssistantMessage, ModelRequest, ModelResult, ToolCall, ToolRequest, UserMessage

ROOT = Path(__file__).parents[2]

SECONDS = 30

INTERVAL = 1.0
"""Long, so that a busy machine keeps it too."""

ASKS = ModelRequest((UserMessage(content="Hello?"),))


@asynccontextmanager
async def other_host(mode: str, url: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process, after its first word; it is gone afterwards."""
    command = (sys.executable, "-m", "tests.store.other_host", mode, url)
    pipe = asyncio.subprocess.PIPE
    host = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=pipe, stdout=pipe)
    try:
        await said(host)
        yield host
    finally:
        if host.returncode is None:
            host.kill()
        await host.communicate()


def opened_without_privileges(url: str) -> str:
    """What a host says that opens the store and has to keep to the files' permissions, as root does not."""
    bound = ["setpriv", "--bounding-set", "-all"] if os.geteuid() == 0 else []
    command = [*bound, sys.executable, "-m", "tests.store.other_host", "open", url]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=True).stdout


async def said(host: asyncio.subprocess.Process) -> str:
    """The next word it says."""
    assert host.stdout is not None
    line = await asyncio.wait_for(host.stdout.readline(), SECONDS)
    assert line, "the other host ended"
    return line.decode().strip()


async def hold(url: str) -> None:
    store = await Store.open(StoreSettings(url=url))
    record = await store.records.run_began(RunStart("held", "fc", "Hello?", conversation_id="c"))
    asks = await record.model_began(ASKS)
    asks.ended(ModelResult(AssistantMessage(content="Look.", tool_calls=(ToolCall(id="c1", name="tide", parsed={}),))))
    await record.tool_began(ToolRequest("tide", {}, "c1"))
    await record.model_began(ASKS)
    await store.records.flush()
    print("held", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await store.aclose()


async def ask(url: str) -> None:
    async with await Store.open(StoreSettings(url=url)) as store:
        now = time.time()
        petition = Petition("dddd1111", "run1", "ada", "p", "s", None, "delete", "c1", {}, now, now + 3600)
        await store.petitions.open(petition)
        print("asked", flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def write(url: str) -> None:
    store = await Store.open(StoreSettings(url=url, interval=INTERVAL))
    record = await store.records.run_began(RunStart("written", "fc", "Hello?"))
    print("begun", flush=True)
    number = 0
    while True:
        number += 1
        asks = await record.model_began(ASKS)
        asks.ended(ModelResult(AssistantMessage(content=str(number))))
        print(number, time.monotonic(), flush=True)
        await asyncio.sleep(0.002)


async def lock(url: str) -> None:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    print("locked", flush=True)
    sys.stdin.read()
    connection.close()


async def opens(url: str) -> None:
    try:
        async with await Store.open(StoreSettings(url=url)):
            print("opened", flush=True)
    except StoreError as error:
        print(error.trouble.value, error.message, flush=True)


MODES = {"hold": hold, "ask": ask, "write": write, "lock": lock, "open": opens}

if __name__ == "__main__":
    asyncio.run(MODES[sys.argv[1]](sys.argv[2]))
