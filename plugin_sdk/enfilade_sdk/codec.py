"""Values to the wire and back."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from enfilade_sdk.contract import Fault, StrategyDescription
from enfilade_sdk.errors import EnfiladeError, ProtocolError, error_from_code
from enfilade_sdk.invocation import File, Invocation, InvokeCredentials, ModelInfo
from enfilade_sdk.json_text import clean, json_object, json_text, json_value
from enfilade_sdk.messages import (
    PAYLOADS,
    BlobChunkPayload,
    BlobPayload,
    MessageError,
    MessageType,
    Payload,
    TextPayload,
    ToolInvokeMessage,
    message_from_parts,
)
from enfilade_sdk.prompts import (
    PROMPT,
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    PromptMessage,
    PromptTool,
    StorageRequest,
    ToolCallDelta,
    ToolRequest,
    ToolResult,
    Usage,
)
from enfilade_wire.v1 import strategy_pb2 as pb

PROTOCOL = 1
"""Version of the application protocol that this package speaks."""

_NUMBERS = {kind: pb.MessageType.Value(f"MESSAGE_TYPE_{kind.name}") for kind in MessageType}
_KINDS = {number: kind for kind, number in _NUMBERS.items()}
_VERBS = {"get": pb.STORAGE_VERB_GET, "set": pb.STORAGE_VERB_SET, "delete": pb.STORAGE_VERB_DELETE}
_VERB_NAMES = {number: verb for verb, number in _VERBS.items()}


def _model(cls: type[BaseModel], value: Any, what: str) -> Any:
    try:
        return cls.model_validate(value)
    except ValidationError as error:
        raise ProtocolError(
            f"field {what}: expected a {cls.__name__}, got {str(value)[:80]!r} ({_why(error)})"
        ) from None


def _why(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])


# messages


def message_to_wire(message: ToolInvokeMessage) -> pb.Message:
    """A message for the wire.

    Raises:
        MessageError: Its payload or meta cannot be written as JSON.
    """
    wire = pb.Message()
    write_message(wire, message)
    return wire


def write_message(wire: pb.Message, message: ToolInvokeMessage) -> None:
    """Writes a message into an empty one of the wire, in place: one in a larger item is not copied again.

    Raises:
        MessageError: Its payload or meta cannot be written as JSON.
    """
    payload = message.message
    wire.type = _NUMBERS[message.type]
    if message.meta:
        wire.meta_json = json_text(message.meta)
    if type(payload) is TextPayload:
        try:
            wire.text = payload.text
        except UnicodeEncodeError:
            wire.text = clean(payload.text)
    elif type(payload) is BlobPayload:
        wire.blob = payload.blob
    elif type(payload) is BlobChunkPayload:
        chunk = wire.blob_chunk
        chunk.id, chunk.sequence, chunk.total_length = clean(payload.id), payload.sequence, payload.total_length
        chunk.blob, chunk.end = payload.blob, payload.end
    else:
        wire.payload_json = json_text(payload)


def message_from_wire(message: pb.Message) -> ToolInvokeMessage:
    """A message from the wire.

    Raises:
        ProtocolError: It is of an unknown type, or its payload is not of its type.
    """
    kind = _KINDS.get(message.type)
    which = message.WhichOneof("payload")
    meta = json_object(message.meta_json, "message.meta_json") if message.meta_json else None
    if kind is None:
        raise ProtocolError(f"field message.type: expected one of the known kinds, got {message.type}")
    if which == "text" and PAYLOADS[kind] is TextPayload:
        return ToolInvokeMessage(kind, TextPayload(text=message.text), meta)
    payload: Any
    if which == "blob":
        payload = {"blob": message.blob}
    elif which == "blob_chunk":
        chunk = message.blob_chunk
        payload = {f.name: getattr(chunk, f.name) for f in chunk.DESCRIPTOR.fields}
    elif which == "payload_json":
        return ToolInvokeMessage(kind, _payload(kind, message.payload_json), meta)
    else:
        payload = {"text": message.text} if which == "text" else {}
    try:
        return message_from_parts(kind, payload, meta)
    except MessageError as error:
        raise ProtocolError(f"field message: {error.message}") from None


def _payload(kind: MessageType, text: str) -> Payload:
    try:
        return PAYLOADS[kind].model_validate_json(text)
    except ValidationError as error:
        expected = f"expected the payload of a {kind.value} message, got {text[:80]!r}"
        raise ProtocolError(f"field message.payload_json: {expected} ({_why(error)})") from None


# the start of a run


def start_to_wire(invocation: Invocation, max_item_bytes: int) -> pb.Start:
    """The first item of a run."""
    model = invocation.model
    return pb.Start(
        run_id=invocation.run_id,
        strategy=invocation.strategy,
        params_json=json_text(invocation.params),
        user_id=invocation.user_id,
        conversation_id=invocation.conversation_id,
        app_id=invocation.app_id,
        message_id=invocation.message_id,
        credentials_json=json_text(invocation.credentials) if invocation.credentials else None,
        deadline_seconds=invocation.deadline or 0.0,
        model=pb.ModelInfo(
            name=model.name,
            provider=model.provider,
            tools=model.tools,
            vision=model.vision,
            stop_words=model.stop_words,
            streaming=model.streaming,
            context_window=model.context_window,
            extra_json=json_text({"completion": model.completion}) if model.completion else "",
        ),
        tools=tools_to_wire(invocation.tools),
        history_json=[prompt_text(message) for message in invocation.history],
        files_json=[file.model_dump_json() for file in invocation.files],
        traceparent=invocation.traceparent,
        max_item_bytes=max_item_bytes,
    )


def start_from_wire(start: pb.Start) -> Invocation:
    """What a run is given.

    Raises:
        ProtocolError: A field does not hold what it should.
    """
    credentials = None
    if start.HasField("credentials_json"):
        value = json_object(start.credentials_json, "start.credentials_json")
        credentials = _model(InvokeCredentials, value, "start.credentials_json")
    return Invocation(
        strategy=start.strategy,
        params=json_object(start.params_json, "start.params_json"),
        run_id=start.run_id,
        user_id=start.user_id,
        conversation_id=start.conversation_id if start.HasField("conversation_id") else None,
        app_id=start.app_id if start.HasField("app_id") else None,
        message_id=start.message_id if start.HasField("message_id") else None,
        credentials=credentials,
        deadline=start.deadline_seconds or None,
        model=_model_info(start.model),
        tools=tools_from_wire(start.tools),
        history=tuple(prompt_from_text(text) for text in start.history_json),
        files=tuple(
            _model(File, json_object(text, "start.files_json"), "start.files_json") for text in start.files_json
        ),
        traceparent=start.traceparent,
    )


def _model_info(model: pb.ModelInfo) -> ModelInfo:
    extra = json_object(model.extra_json, "start.model.extra_json")
    return ModelInfo(
        name=model.name,
        provider=model.provider,
        tools=model.tools,
        vision=model.vision,
        stop_words=model.stop_words,
        streaming=model.streaming,
        context_window=model.context_window,
        completion=bool(extra.get("completion", False)),
    )


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


# prompts


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
        raise ProtocolError(f"expected a prompt message as JSON, got {text[:80]!r} ({_why(error)})") from None


# calls and their answers


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
    usage = _model(Usage, json_object(done.usage_json, "model_done.usage_json"), "model_done.usage_json")
    return ModelResult(message, done.finish_reason, usage, done.model, done.seconds)


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


def storage_request_to_wire(call_id: int, request: StorageRequest) -> pb.StorageCall:
    """A use of the small storage."""
    value = json_text(request.value) if request.verb == "set" else ""
    return pb.StorageCall(call_id=call_id, verb=_VERBS[request.verb], key=clean(request.key), value_json=value)


def storage_request_from_wire(call: pb.StorageCall) -> StorageRequest:
    """A use of the small storage.

    Raises:
        ProtocolError: The verb is unknown, or the value is not JSON.
    """
    verb = _VERB_NAMES.get(call.verb)
    if verb is None:
        raise ProtocolError(f"field storage_call.verb: expected get, set or delete, got {call.verb}")
    value = json_value(call.value_json, "storage_call.value_json") if verb == "set" else None
    return StorageRequest(cast(Any, verb), call.key, value)


ERROR_CHARACTERS = 64 * 1024
"""Characters of an error's message that are sent; the rest is cut."""

ERROR_BYTES = 1024 * 1024
"""Bytes of an error's details; larger ones are left out."""


def failure_to_wire(call_id: int, error: EnfiladeError) -> pb.CallFailed:
    """The failure of a call. A traceback stays here."""
    details = {key: value for key, value in error.details.items() if key != "traceback"}
    return pb.CallFailed(
        call_id=call_id,
        code=error.code.value,
        message=_shown(error.message),
        retryable=error.retryable,
        details_json=_details(details),
    )


def _shown(message: str) -> str:
    return clean(message) if len(message) <= ERROR_CHARACTERS else f"{clean(message[:ERROR_CHARACTERS])} ... (cut)"


def _details(details: Mapping[str, Any]) -> str:
    text = json_text(details) if details else ""
    return text if len(text) <= ERROR_BYTES else ""


def failure_from_wire(failed: pb.CallFailed) -> EnfiladeError:
    """The failure of a call, as the error that its code stands for."""
    details = json_object(failed.details_json, "call_failed.details_json")
    return error_from_code(failed.code, failed.message, details | ({"retryable": True} if failed.retryable else {}))


def run_failure_to_wire(error: EnfiladeError) -> pb.Failed:
    """The failure of a run."""
    return pb.Failed(code=error.code.value, message=_shown(error.message), details_json=_details(error.details))


def run_failure_from_wire(failed: pb.Failed) -> EnfiladeError:
    """The failure of a run, as the error that its code stands for."""
    return error_from_code(failed.code, failed.message, json_object(failed.details_json, "failed.details_json"))


# descriptions


def description_to_wire(description: StrategyDescription) -> pb.StrategyDescription:
    """What a strategy says of itself."""
    about = description.model_dump(exclude={"name", "parameters", "faults"}, exclude_none=True)
    return pb.StrategyDescription(
        name=description.name,
        about_json=json_text(about),
        parameters_json=json_text([p.model_dump(mode="json", exclude_none=True) for p in description.parameters]),
        faults=[pb.Fault(expected=f.expected, found=f.found, remedy=f.remedy) for f in description.faults],
    )


def description_from_wire(described: pb.StrategyDescription) -> StrategyDescription:
    """What a strategy says of itself.

    Raises:
        ProtocolError: A field does not hold what it should.
    """
    about: Mapping[str, Any] = json_object(described.about_json, "about_json")
    parameters = json_value(described.parameters_json or "[]", "parameters_json")
    faults = [Fault(expected=f.expected, found=f.found, remedy=f.remedy) for f in described.faults]
    value = {**about, "name": described.name, "parameters": parameters, "faults": faults}
    return cast(StrategyDescription, _model(StrategyDescription, value, f"strategies[{described.name}]"))
