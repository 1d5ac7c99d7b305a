"""docs/embedding.md: its programs run, and every code stands there."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from enfilade_sdk.errors import ErrorCode

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "embedding.md").read_text(encoding="utf-8")


def program(name: str) -> dict[str, Any]:
    """What the program of that name defines, after it has run."""
    (code,) = re.findall(rf"^```python\n(# {re.escape(name)}\n.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    space: dict[str, Any] = {"__name__": name}
    exec(compile(code, name, "exec"), space)
    return space


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENFILADE_DATA_DIR", str(tmp_path))


def test_the_service_streams_leaves_and_asks(capsys: pytest.CaptureFixture[str]) -> None:
    program("service.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "12 * 7 = 84."
    assert re.fullmatch(r".*12 \* 7 = 84\. \d+", lines[-1])


async def test_the_application_streams_a_run_as_events() -> None:
    application = program("web.py")["application"]
    sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    to_lifespan: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    to_request: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    await to_lifespan.put({"type": "lifespan.startup"})
    life = asyncio.create_task(application({"type": "lifespan"}, to_lifespan.get, sent.put))
    assert (await sent.get())["type"] == "lifespan.startup.complete"
    await to_request.put({"type": "http.request", "body": b"What is 12 * 7?"})
    await application({"type": "http"}, to_request.get, sent.put)
    await to_lifespan.put({"type": "lifespan.shutdown"})
    await life
    events = []
    while not sent.empty():
        message = await sent.get()
        if "body" in message and (data := bytes(message["body"])):
            events.append(json.loads(data.removeprefix(b"data: ")))
    assert events[-1]["outcome"]["answer"].startswith("12 * 7 = 84.")
    assert {"log", "text", "outcome"} <= {event["type"] for event in events}


def test_every_code_of_an_error_stands_in_the_table() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) >= set(ErrorCode)
