"""Answers a run's model, tool and storage calls, within what the run was granted."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from enfilade.errors import near_matches
from enfilade.ledger import Ledger
from enfilade.storage import Storage
from enfilade_sdk.errors import EnfiladeError, ErrorCode, ModelFailedError
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, StorageRequest, ToolRequest, ToolResult

ModelAnswers = Callable[[ModelRequest], AsyncGenerator[ModelChunk | ModelResult, None]]
ToolAnswers = Callable[[ToolRequest], AsyncGenerator[ToolInvokeMessage | ToolResult, None]]


@dataclass(frozen=True, slots=True)
class Grants:
    """What a run may use.

    Attributes:
        models: Names of models, the run's own first.
        tools: Names of tools.
        plugin: Whose small storage it is.
        conversation: Which conversation's; empty for a run without one.
    """

    models: tuple[str, ...]
    tools: frozenset[str]
    plugin: str = ""
    conversation: str = ""


def granted(grants: Grants, ledger: Ledger, call_tool: ToolAnswers) -> ToolAnswers:
    """Calls the granted tools; any other name comes to a result made for the model.

    It stands within the layers, so that they see and record a call that was refused like any other.
    """

    async def refuse(request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        ledger.refused("tool", request.name)
        text = f"there is not a tool named {request.name}; {near_matches(request.name, grants.tools)}"
        yield ToolResult(text, is_error=True, details={"code": ErrorCode.TOOL_NOT_FOUND.value})

    return lambda request: call_tool(request) if request.name in grants.tools else refuse(request)


class Callbacks:
    """The host's hatch: checks each call against the grants and keeps the ledger."""

    def __init__(
        self,
        grants: Grants,
        ask_model: ModelAnswers,
        call_tool: ToolAnswers,
        storage: Storage,
        ledger: Ledger,
        models: Mapping[str, ModelInfo],
    ) -> None:
        self._grants = grants
        self._offered: set[str] = set()
        self._ask_model = ask_model
        self._call_tool = call_tool
        self._storage = storage
        self._ledger = ledger
        self._models = models

    async def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Asks a granted model.

        Raises:
            ModelFailedError: The model was not granted, or its provider failed.
        """
        name = request.model or self._grants.models[0]
        if name not in self._grants.models:
            self._ledger.refused("model", name)
            granted = ", ".join(self._grants.models)
            raise ModelFailedError(f"this run was not granted the model {name!r}; it was granted: {granted}")
        info = self._models[name]
        entry = self._ledger.model_called(info.name, info.provider)
        started = time.monotonic()
        try:
            # Only what was offered: a strategy that reads calls out of the text itself offers nothing.
            self._offered.update(tool.name for tool in request.tools)
            asked = replace(request, model=name, known_tools=tuple(sorted(self._offered)))
            async with aclosing(self._ask_model(asked)) as answers:
                async for answer in answers:
                    if isinstance(answer, ModelResult):
                        self._ledger.model_done(entry, answer)
                    yield answer
        except EnfiladeError as error:
            entry.error, entry.seconds = error.message, time.monotonic() - started
            raise

    async def tool(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        """Calls a tool."""
        entry = self._ledger.tool_called(request)
        async with aclosing(self._call_tool(request)) as answers:
            async for answer in answers:
                if isinstance(answer, ToolResult):
                    self._ledger.tool_done(entry, answer)
                yield answer

    async def storage(self, request: StorageRequest) -> Any:
        """Uses the plugin's small storage.

        Raises:
            EnfiladeError: The key or the size is refused.
        """
        return await self._storage.use(self._grants.plugin, self._grants.conversation, request)
