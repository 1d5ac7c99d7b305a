"""Prompt messages and tools as a model sees them: to the wire and back."""

from collections.abc import Sequence

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from enfilade_sdk.codec.field import why
from enfilade_sdk.errors import ProtocolError
from enfilade_sdk.json_text import json_object, json_text
from enfilade_sdk.prompts import (
    PROMPT,
    PromptMessage,
    PromptTool,
)
from enfilade_wire.v1 import strategy_pb2 as pb


def prompt_text(message: PromptMessage) -> str:
    """A prompt message as JSON."""
    try:
        return PROMPT.dump_json(message, exclude_none=True).decode()
    except PydanticSerializationError:  # it holds lone surrogates
        return json_text(PROMPT.dump_python(message, exclude_none=True))


def prompt_from_text(text: str) -> PromptMessage:
    """A prompt message from JSON.

    Raises:
        ProtocolError: It is not one.
    """
    try:
        return PROMPT.validate_json(text)
    except ValidationError as error:
        raise ProtocolError(f"expected a prompt message as JSON, got {text[:80]!r} ({why(error)})") from None


def tools_to_wire(tools: Sequence[PromptTool]) -> list[pb.ToolInfo]:
    """Tools as a model sees them."""
    return [
        pb.ToolInfo(name=tool.name, description=tool.description, schema_json=json_text(tool.parameters))
        for tool in tools
    ]


def tools_from_wire(tools: Sequence[pb.ToolInfo]) -> tuple[PromptTool, ...]:
    """Tools as a model sees them.

    Raises:
        ProtocolError: A schema is not a JSON object.
    """
    return tuple(
        PromptTool(
            name=tool.name,
            description=tool.description,
            parameters=json_object(tool.schema_json, f"tools[{tool.name}].schema_json"),
        )
        for tool in tools
    )
