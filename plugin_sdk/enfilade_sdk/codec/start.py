"""The start of a run: to the wire and back."""

from enfilade_sdk.codec.field import value_of
from enfilade_sdk.codec.prompt import prompt_from_text, prompt_text, tools_from_wire, tools_to_wire
from enfilade_sdk.invocation import File, Invocation, InvokeCredentials, ModelInfo
from enfilade_sdk.json_text import json_object, json_text
from enfilade_wire.v1 import strategy_pb2 as pb


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
        credentials = value_of(InvokeCredentials, value, "start.credentials_json")
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
            value_of(File, json_object(text, "start.files_json"), "start.files_json") for text in start.files_json
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
