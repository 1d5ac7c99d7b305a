"""Tool calls and their results: to the wire and back."""

from enfilade_sdk.json_text import clean, json_object, json_text
from enfilade_sdk.prompts import (
    ToolRequest,
    ToolResult,
)
from enfilade_wire.v1 import strategy_pb2 as pb


def tool_request_to_wire(call_id: int, request: ToolRequest, window: int) -> pb.ToolCall:
    """A tool call."""
    text = clean(request.arguments) if isinstance(request.arguments, str) else json_text(request.arguments)
    return pb.ToolCall(
        call_id=call_id,
        name=clean(request.name),
        arguments_json=text,
        tool_call_id=clean(request.call_id),
        window=window,
    )


def tool_request_from_wire(call: pb.ToolCall) -> ToolRequest:
    """A tool call; its arguments stay the text they are, for the tool engine to read."""
    return ToolRequest(name=call.name, arguments=call.arguments_json, call_id=call.tool_call_id)


def tool_result_to_wire(call_id: int, result: ToolResult) -> pb.ToolDone:
    """The end of a tool call."""
    return pb.ToolDone(
        call_id=call_id,
        text=clean(result.text),
        is_error=result.is_error,
        seconds=result.seconds,
        details_json=json_text(result.details) if result.details else "",
    )


def tool_result_from_wire(done: pb.ToolDone) -> ToolResult:
    """The end of a tool call.

    Raises:
        ProtocolError: Its details are not a JSON object.
    """
    details = json_object(done.details_json, "tool_done.details_json")
    return ToolResult(done.text, done.is_error, done.seconds, details)
