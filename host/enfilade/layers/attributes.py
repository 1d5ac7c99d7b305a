"""Attributes of spans, made of what a run and its calls are."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from enfilade.layers.context import RunContext
from enfilade.models.settings import ModelSettings
from enfilade.telemetry import names
from enfilade_sdk.prompts import ModelRequest

_PORTS = {"http": 80, "https": 443}
_OPENAI = "https://api.openai.com/v1"


def known(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are there."""
    return {name: value for name, value in values.items() if value is not None}


def type_of(provider: str) -> str:
    """What kind of tool it is, in the words of the conventions."""
    source = provider.partition(":")[0]
    return {"mcp": "extension", "openapi": "extension", "knowledge": "datastore"}.get(source, "function")


def request_of(context: RunContext, request: ModelRequest, operation: str) -> dict[str, Any]:
    """A model call, as it was asked for; nothing of its content."""
    settings = {**context.settings.parameters, **request.parameters}
    return {
        names.OPERATION: operation,
        **model_of(context),
        names.REQUEST_STREAM: request.stream and context.settings.streaming,
        **known({names.CONVERSATION: context.conversation, names.REQUEST_STOP: request.stop or None}),
        **known({names.REQUEST_SETTINGS[name]: _plain(settings.get(name)) for name in names.REQUEST_SETTINGS}),
    }


def model_of(context: RunContext) -> dict[str, str | int]:
    """The run's model, and where it is."""
    return {
        names.PROVIDER: context.settings.provider,
        names.REQUEST_MODEL: context.model.name,
        **_server_of(context.settings),
    }


def _plain(value: object) -> int | float | str | None:
    return value if isinstance(value, int | float | str) else None


def _server_of(settings: ModelSettings) -> dict[str, str | int]:
    """Where the model is; nothing for one that is in this process."""
    url = settings.base_url or (_OPENAI if settings.provider == "openai" else "")
    parts = urlsplit(url)
    if not parts.hostname:
        return {}
    return {names.SERVER: parts.hostname, names.PORT: parts.port or _PORTS.get(parts.scheme, 443)}
