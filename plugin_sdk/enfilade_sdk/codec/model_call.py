"""Model calls and their answers: to the wire and back."""

from enfilade_sdk.codec.field import value_of
from enfilade_sdk.codec.prompt import prompt_from_text, prompt_text, tools_from_wire, tools_to_wire
from enfilade_sdk.errors import ProtocolError
from enfilade_sdk.json_text import clean, json_object, json_text, json_value
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    ToolCallDelta,
    Usage,
)
from enfilade_wire.v1 import strategy_pb2 as pb


def model_request_to_wire(call_id: int, request: ModelRequest, window: int) -> pb.ModelCall:
    """A model call."""
    return pb.ModelCall(
        call_id=call_id,
        messages_json=[prompt_text(message) for message in request.messages],
        tools=tools_to_wire(request.tools),
        tool_choice_json=None if request.tool_choice is None else json_text(request.tool_choice),
        stop=request.stop,
        parameters_json=json_text(request.parameters) if request.parameters else "",
        stream=request.stream,
        model=request.model or "",
        window=window,
        completion=request.completion,
    )


def model_request_from_wire(call: pb.ModelCall) -> ModelRequest:
    """A model call.

    Raises:
        ProtocolError: A field does not hold what it should.
    """
    choice = json_value(call.tool_choice_json, "tool_choice_json") if call.HasField("tool_choice_json") else None
    return ModelRequest(
        messages=tuple(prompt_from_text(text) for text in call.messages_json),
        tools=tools_from_wire(call.tools),
        tool_choice=choice,
        stop=tuple(call.stop),
        parameters=json_object(call.parameters_json, "parameters_json"),
        stream=call.stream,
        model=call.model or None,
        completion=call.completion,
    )


def chunk_to_wire(call_id: int, chunk: ModelChunk) -> pb.ModelChunk:
    """A piece of a model's answer."""
    try:
        if not chunk.tool_calls:
            return pb.ModelChunk(call_id=call_id, text=chunk.text, reasoning=chunk.reasoning)
        deltas = [
            pb.ToolCallDelta(index=d.index, id=clean(d.id), name=clean(d.name), arguments=clean(d.arguments))
            for d in chunk.tool_calls
        ]
        return pb.ModelChunk(call_id=call_id, text=chunk.text, reasoning=chunk.reasoning, tool_calls=deltas)
    except UnicodeEncodeError:
        return chunk_to_wire(call_id, ModelChunk(clean(chunk.text), clean(chunk.reasoning), chunk.tool_calls))


def chunk_from_wire(chunk: pb.ModelChunk) -> ModelChunk:
    """A piece of a model's answer."""
    if not chunk.tool_calls:
        return ModelChunk(chunk.text, chunk.reasoning)
    deltas = tuple(ToolCallDelta(d.index, d.id, d.name, d.arguments) for d in chunk.tool_calls)
    return ModelChunk(chunk.text, chunk.reasoning, deltas)


def result_to_wire(call_id: int, result: ModelResult) -> pb.ModelDone:
    """The end of a model call."""
    return pb.ModelDone(
        call_id=call_id,
        message_json=prompt_text(result.message),
        finish_reason=result.finish_reason,
        usage_json=result.usage.model_dump_json(exclude_none=True),
        model=result.model,
        seconds=result.seconds,
    )


def result_from_wire(done: pb.ModelDone) -> ModelResult:
    """The end of a model call.

    Raises:
        ProtocolError: A field does not hold what it should.
    """
    message = prompt_from_text(done.message_json)
    if not isinstance(message, AssistantMessage):
        raise ProtocolError(
            f"field model_done.message_json: expected an assistant message, got a {message.role} message"
        )
    usage = value_of(Usage, json_object(done.usage_json, "model_done.usage_json"), "model_done.usage_json")
    return ModelResult(message, done.finish_reason, usage, done.model, done.seconds)
