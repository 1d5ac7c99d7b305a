import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions.threads import Threads
from enfilade.tools.loader import load_tools
from enfilade.tools.openapi.kind import openapi_kind
from enfilade.tools.openapi.settings import OpenApiSettings
from enfilade.tools.registry import SourceRegistry, builtin_kinds
from tests.openapi.interface_server import InterfaceServer

Opened = Callable[..., AbstractAsyncContextManager[ToolEngine]]


@pytest_asyncio.fixture
async def server() -> AsyncIterator[InterfaceServer]:
    """A real interface."""
    async with InterfaceServer() as made:
        yield made


@pytest.fixture
def opened(tmp_path: Path, server: InterfaceServer) -> Opened:
    """Opens an engine with the operations of a document, which is written for the interface of the test.

    Args:
        paths: The document's paths.
        entry: The entry, or its spec; by default all operations.
        more: Other parts of the document.
        settings: Settings of `[openapi.api]`.
    """

    @asynccontextmanager
    async def engine_of(
        paths: dict[str, Any],
        entry: ToolEntry | str = "openapi:api",
        *,
        more: dict[str, Any] | None = None,
        **settings: Any,
    ) -> AsyncIterator[ToolEngine]:
        document = {"openapi": "3.1.0", "info": {}, "servers": [{"url": server.url}], "paths": paths, **(more or {})}
        (tmp_path / "api.json").write_text(json.dumps(document))
        sections = {"openapi": {"api": OpenApiSettings.model_validate({"document": "api.json", **settings})}}
        registry = SourceRegistry(tmp_path, Threads(), kinds=[*builtin_kinds(), openapi_kind()], sections=sections)
        wanted = entry if isinstance(entry, ToolEntry) else ToolEntry(tool=entry, required=True)
        engine = await load_tools([wanted], registry)
        try:
            yield engine
        finally:
            await engine.aclose()
            registry.close()

    return engine_of


def operation(name: str = "op", **more: Any) -> dict[str, Any]:
    """An operation."""
    return {"operationId": name, "responses": {"200": {"description": "fine"}}, **more}


def parameter(name: str, place: str = "query", **more: Any) -> dict[str, Any]:
    """A parameter."""
    return {"name": name, "in": place, "schema": {"type": "string"}, **more}


def body(schema: Any, kind: str = "application/json", *, required: bool = True) -> dict[str, Any]:
    """A request's body."""
    return {"content": {kind: {"schema": schema}}, "required": required}
