"""Tells whether two tool calls are the same."""

import orjson

from enfilade_sdk.prompts import ToolRequest


def key_of(request: ToolRequest) -> tuple[str, str | bytes]:
    """Equal for calls of the same tool with the same arguments, whatever the order and spacing of their JSON."""
    arguments = request.arguments
    try:
        value = orjson.loads(arguments) if isinstance(arguments, str) else dict(arguments)
        return request.name, orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except (orjson.JSONDecodeError, TypeError):
        return request.name, str(arguments)
