"""The official reference servers, which are programs for Node. `.ci/mcp_servers FOLDER` gets them from npm."""

import asyncio
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from enfilade.tools.entry import ToolEntry
from enfilade.tools.mcp.settings import McpSettings
from enfilade_sdk.messages import BlobPayload, MessageType
from tests.support.mcp_setup import mcp_engine
from tests.support.tool_calls import call

VARIABLE = "MCP_REFERENCE_SERVERS"
FOLDER = Path(os.environ.get(VARIABLE) or "nowhere")
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="node is not installed"),
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason=f"{VARIABLE} does not name a folder with the servers (.ci/mcp_servers FOLDER)"
    ),
]


def reference(name: str, *args: str, **more: object) -> McpSettings:
    """A reference server over pipes."""
    return McpSettings.model_validate({"command": NODE, "args": (script(name), *args), **more})


def script(name: str) -> str:
    """The program of a reference server."""
    return str(FOLDER / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js")


@asynccontextmanager
async def everything_over_http() -> AsyncIterator[McpSettings]:
    """The server `everything` behind an address."""
    assert NODE is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        NODE,
        script("everything"),
        "streamableHttp",
        env=os.environ | {"PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(20):
            await process.stderr.readuntil(b"listening on port")
        yield McpSettings(url=f"http://127.0.0.1:{port}/mcp")
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def everything(transport: str) -> AsyncIterator[McpSettings]:
    """The server `everything`, over pipes or HTTP."""
    if transport == "pipes":
        yield reference("everything", "stdio")
    else:
        async with everything_over_http() as settings:
            yield settings


@pytest.mark.parametrize("transport", ["pipes", "http"])
async def test_everything(transport: str, caplog: pytest.LogCaptureFixture) -> None:
    async with everything(transport) as settings, mcp_engine({"everything": settings}) as engine:
        assert {"echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"} <= set(engine.names)
        assert not engine.report.refusals
        assert (await call(engine, "echo", {"message": "häfen"})).text == "Echo: häfen"
        assert (await call(engine, "get-sum", {"a": "19", "b": 23})).text == "The sum of 19 and 23 is 42."
        image = await call(engine, "get-tiny-image")
        [blob] = [message.message for message in image.messages if isinstance(message.message, BlobPayload)]
        assert blob.blob.startswith(b"\x89PNG")
        structured = await call(engine, "get-structured-content", {"location": "Chicago"})
        assert structured.kinds == [MessageType.TEXT, MessageType.JSON]
        assert structured.text.count("temperature") == 1
        links = await call(engine, "get-resource-links", {"count": 2})
        assert links.text.count("result link: demo://") == 2
        long = await call(engine, "trigger-long-running-operation", {"duration": 1, "steps": 4})
        assert long.text.startswith("Long running operation completed")
        assert long.kinds[0] is MessageType.LOG
        wrong = await call(engine, "get-resource-reference", {"resourceType": "Text", "resourceId": -1})
        assert wrong.result.is_error
    assert "'simulate-research-query' runs only as a task" in caplog.text


@pytest.mark.parametrize("transport", ["pipes", "http"])
async def test_a_long_operation_is_given_up(transport: str) -> None:
    slow = ToolEntry(tool="mcp:everything:trigger-long-running-operation", timeout=0.3, required=True)
    echo = "mcp:everything:echo"
    async with everything(transport) as settings, mcp_engine({"everything": settings}, slow, echo) as engine:
        given_up = await call(engine, "trigger-long-running-operation", {"duration": 20, "steps": 20})
        assert "did not end within 0.3 s" in given_up.text
        assert (await call(engine, "echo", {"message": "on"})).text == "Echo: on"


async def test_everything_is_given_no_variables_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "hidden")
    async with mcp_engine({"everything": reference("everything")}, "mcp:everything:get-env") as engine:
        done = await call(engine, "get-env")
    assert '"PATH"' in done.text
    assert "SECRET_OF_THE_HOST" not in done.text


async def test_filesystem(tmp_path: Path) -> None:
    (tmp_path / "tides.txt").write_text("high at 06:10\n")
    async with mcp_engine({"files": reference("filesystem", str(tmp_path))}) as engine:
        path = str(tmp_path / "tides.txt")
        assert (await call(engine, "read_text_file", {"path": path})).text == "high at 06:10\n"
        await call(engine, "write_file", {"path": str(tmp_path / "new.txt"), "content": "low at 12:20"})
        assert (tmp_path / "new.txt").read_text() == "low at 12:20"
        outside = await call(engine, "read_text_file", {"path": "/etc/hostname"})
        assert outside.result.is_error
        assert re.search(r"Access denied - path outside allowed directories: /etc/hostname not in ", outside.text)


async def test_memory_lasts_from_one_start_to_the_next(tmp_path: Path) -> None:
    settings = reference("memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")})
    entity = {"name": "Oban", "entityType": "port", "observations": ["has a pier"]}
    async with mcp_engine({"memory": settings}) as engine:
        assert not (await call(engine, "create_entities", {"entities": [entity]})).result.is_error
    async with mcp_engine({"memory": settings}, "mcp:memory:search_nodes") as engine:
        assert "has a pier" in (await call(engine, "search_nodes", {"query": "Oban"})).text
