"""A hatch that is answered by scripts."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from enfilade_sdk.errors import EnfiladeError, InvalidParamsError, ModelFailedError, QuotaExceededError
from enfilade_sdk.json_text import json_text, json_value
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.parameters.json_value import not_json
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, StorageRequest, ToolRequest, ToolResult
from enfilade_sdk.testing.scripted_model import ScriptedModel
from enfilade_sdk.testing.scripted_tools import ScriptedTools

_KEY_LIMIT = 256  # as in the host's storage
_SPACE_LIMIT = 1024 * 1024


class ScriptedHatch:
    """Answers the calls of a run from scripts, and lets it call only what it was granted, as the host does.

    Args:
        model: The run's own model.
        tools: The tools it was granted.
        models: Further models it was granted, by name.
        storage: What is stored before the run; the same dict holds what is stored after it.

    Attributes:
        stored: What is stored, by key.
        refused: The calls that were not granted: `model NAME` or `tool NAME`.
        open_calls: How many calls are under way.
    """

    def __init__(
        self,
        model: ScriptedModel,
        tools: ScriptedTools,
        *,
        models: Mapping[str, ScriptedModel] | None = None,
        storage: dict[str, Any] | None = None,
    ) -> None:
        self._model = model
        self._tools = tools
        self._models = {model.info.name: model, **(models or {})}
        self.stored: dict[str, Any] = {} if storage is None else storage
        self.refused: list[str] = []
        self.open_calls = 0

    async def model(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Plays the next turn of the model asked for.

        Raises:
            ModelFailedError: The model was not granted, or the turn is a failure.
        """
        self.open_calls += 1
        try:
            async with aclosing(self._granted(request.model).stream(request)) as answers:
                async for answer in answers:
                    yield answer
        finally:
            self.open_calls -= 1

    async def tool(self, request: ToolRequest) -> AsyncGenerator[ToolInvokeMessage | ToolResult, None]:
        """Carries a tool call out.

        Raises:
            ToolNotFoundError: The tool was not granted.
        """
        self.open_calls += 1
        try:
            async with aclosing(self._tools.stream(request)) as answers:
                async for answer in answers:
                    yield answer
        except EnfiladeError:
            self.refused.append(f"tool {request.name}")
            raise
        finally:
            self.open_calls -= 1

    async def storage(self, request: StorageRequest) -> Any:
        """Gets, sets or deletes a value; values are kept as the JSON they become.

        Raises:
            InvalidParamsError: The key is empty or too long, or the value is not JSON.
            QuotaExceededError: All values together are larger than a host allows.
        """
        if not 0 < len(request.key) <= _KEY_LIMIT:
            raise InvalidParamsError(f"a storage key has 1 to {_KEY_LIMIT} characters, got {len(request.key)}")
        if request.verb == "set":
            if (fault := not_json(request.value)) is not None:
                raise InvalidParamsError(f"storage {request.key!r}: expected a JSON value, got {fault}")
            grown = {**self.stored, request.key: request.value}
            if (size := sum(len(json_text(value)) for value in grown.values())) > _SPACE_LIMIT:
                raise QuotaExceededError(f"the storage holds {_SPACE_LIMIT} bytes; this would make it {size}")
            self.stored[request.key] = _copied(request.value)
        elif request.verb == "delete":
            self.stored.pop(request.key, None)
        return _copied(self.stored.get(request.key)) if request.verb == "get" else None

    def _granted(self, name: str | None) -> ScriptedModel:
        if name is None:
            return self._model
        if name not in self._models:
            self.refused.append(f"model {name}")
            granted = ", ".join(self._models)
            raise ModelFailedError(f"the model {name!r} was not granted to this run; granted are: {granted}")
        return self._models[name]


def _copied(value: Any) -> Any:
    return json_value(json_text(value), "storage")
