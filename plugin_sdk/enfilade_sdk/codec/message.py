"""What strategies and tools send: to the wire and back."""

from typing import Any

from pydantic import ValidationError

from enfilade_sdk.codec.field import why
from enfilade_sdk.errors import ProtocolError
from enfilade_sdk.json_text import clean, json_object, json_text
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
from enfilade_wire.v1 import strategy_pb2 as pb

_NUMBERS = {kind: pb.MessageType.Value(f"MESSAGE_TYPE_{kind.name}") for kind in MessageType}
_KINDS = {number: kind for kind, number in _NUMBERS.items()}


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
        raise ProtocolError(f"field message.payload_json: {expected} ({why(error)})") from None
