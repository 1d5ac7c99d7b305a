"""The messages a strategy or a tool sends to the caller."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Self
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json, to_json

from enfilade_sdk.errors import EnfiladeError, ErrorCode
from enfilade_sdk.foreign import plain

THOUGHT = "thought"
"""In the meta of a text: so many characters at the start of its round's text were thought, as it turned out."""

RESERVED_VARIABLES = frozenset({"text", "json", "files", "usage"})
"""Names an outcome uses itself, so that a variable may not take them."""


class MessageError(EnfiladeError):
    """A value is not a message; the text says what was expected and what came."""

    code = ErrorCode.PROTOCOL


class MessageType(StrEnum):
    """The kinds of `ToolInvokeMessage`."""

    TEXT = "text"
    LINK = "link"
    IMAGE = "image"
    IMAGE_LINK = "image_link"
    BINARY_LINK = "binary_link"
    BLOB = "blob"
    BLOB_CHUNK = "blob_chunk"
    JSON = "json"
    VARIABLE = "variable"
    FILE = "file"
    LOG = "log"
    RETRIEVER_RESOURCES = "retriever_resources"


class _Payload(BaseModel):
    model_config = ConfigDict(extra="forbid", ser_json_bytes="base64", val_json_bytes="base64", ser_json_inf_nan="null")


class TextPayload(_Payload):
    """A text, or a URL for the link and image kinds."""

    text: str


class BlobPayload(_Payload):
    """Bytes; meta has `mime_type` and `filename`. Base64 in JSON."""

    blob: bytes


class BlobChunkPayload(_Payload):
    """One part of a blob that is sent in parts, in order of `sequence` from 0."""

    id: str
    sequence: int = Field(ge=0)
    total_length: int = Field(ge=0)
    blob: bytes
    end: bool = False


class JsonPayload(_Payload):
    """A JSON object or list; `suppress_output` keeps it out of the text for the model."""

    json_object: dict[str, Any] | list[Any]
    suppress_output: bool = False


class VariablePayload(_Payload):
    """A named value; with `stream` the values of one name are joined, so they must be strings."""

    variable_name: str
    variable_value: Any
    stream: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.variable_name in RESERVED_VARIABLES:
            raise ValueError(f"variable_name {self.variable_name!r} is reserved; choose another name")
        if self.stream and not isinstance(self.variable_value, str):
            raise ValueError("variable_value must be a string when stream is true")
        return self


class FilePayload(_Payload):
    """Nothing of its own: the file stands in `meta.file`."""


class LogStatus(StrEnum):
    """Where a logged step stands."""

    START = "start"
    SUCCESS = "success"
    ERROR = "error"


class LogPayload(_Payload):
    """One node of the log tree; a second message of the same id updates the first."""

    id: str = Field(default_factory=lambda: uuid4().hex)
    label: str
    parent_id: str | None = None
    error: str | None = None
    status: LogStatus = LogStatus.SUCCESS
    data: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)


class RetrieverResourcesPayload(_Payload):
    """What a retrieval found: a list of resources for the user, a context for the model."""

    retriever_resources: list[dict[str, Any]]
    context: str = ""


Payload = (
    TextPayload
    | BlobPayload
    | BlobChunkPayload
    | JsonPayload
    | VariablePayload
    | FilePayload
    | LogPayload
    | RetrieverResourcesPayload
)

PAYLOADS: Mapping[MessageType, type[Payload]] = {
    MessageType.TEXT: TextPayload,
    MessageType.LINK: TextPayload,
    MessageType.IMAGE: TextPayload,
    MessageType.IMAGE_LINK: TextPayload,
    MessageType.BINARY_LINK: TextPayload,
    MessageType.BLOB: BlobPayload,
    MessageType.BLOB_CHUNK: BlobChunkPayload,
    MessageType.JSON: JsonPayload,
    MessageType.VARIABLE: VariablePayload,
    MessageType.FILE: FilePayload,
    MessageType.LOG: LogPayload,
    MessageType.RETRIEVER_RESOURCES: RetrieverResourcesPayload,
}
"""Which payload each kind carries."""


@dataclass(slots=True)
class ToolInvokeMessage:
    """One message: `type`, the payload of that type, and free `meta`.

    A dataclass and not a model: hundreds of thousands are made a second, and their payloads check themselves.

    Raises:
        MessageError: The payload is not of the type, or a file message has no `meta.file`.
    """

    type: MessageType
    message: Payload
    meta: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if type(self.message) is not PAYLOADS[self.type]:
            expected, found = PAYLOADS[self.type].__name__, type(self.message).__name__
            raise MessageError(f"a message of type {self.type.value!r} needs a {expected}, got a {found}")
        if self.type is MessageType.FILE and "file" not in (self.meta or {}):
            raise MessageError("a message of type 'file' needs meta.file")

    def to_json(self) -> dict[str, Any]:
        """The JSON form: `{"type": ..., "message": {...}, "meta": {...}}`, blobs in base64."""
        return {
            "type": self.type.value,
            "message": self.message.model_dump(mode="json"),
            "meta": from_json(to_json(self.meta or {}, serialize_unknown=True, inf_nan_mode="null")),
        }


def message_of(value: object) -> ToolInvokeMessage:
    """Reads what a strategy yielded: a message, a dict of the same shape, or a text.

    Raises:
        MessageError: The value is none of these; the text says what is wrong with it.
    """
    if type(value) is ToolInvokeMessage:
        return value
    if isinstance(value, str):
        return text_message(value)
    form = value if isinstance(value, Mapping) else _foreign_form(value)
    try:
        return message_from_parts(plain(form.get("type")), _dict(form.get("message")), _dict(form.get("meta")))
    except MessageError as error:
        raise MessageError(f"a strategy yielded a message that is not valid: {error.message}") from None


def message_from_parts(kind: object, payload: object, meta: object) -> ToolInvokeMessage:
    """A message of unchecked parts: the type's name, the payload's fields, the meta.

    Raises:
        MessageError: They make no message; the text names what does not fit.
    """
    if not isinstance(kind, str) or kind not in PAYLOADS:
        known = ", ".join(PAYLOADS)
        raise MessageError(f"type: expected one of {known}, got {kind!r}")
    if meta is not None and not isinstance(meta, Mapping):
        raise MessageError(f"meta: expected an object, got a {type(meta).__name__}")
    message_type = MessageType(kind)
    try:
        read = PAYLOADS[message_type].model_validate({} if payload is None else payload)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'message'}: {e['msg']}" for e in error.errors())
        raise MessageError(f"type {kind!r}: {faults}") from None
    return ToolInvokeMessage(message_type, read, None if meta is None else dict(meta))


def _dict(value: object) -> object:
    """A dict as it is; what somebody gives in its place as one."""
    return value if value is None or isinstance(value, Mapping) else plain(value)


def _foreign_form(value: object) -> dict[str, Any]:
    """The dict behind an object that has a message's members without being ours."""
    if not (hasattr(value, "type") and hasattr(value, "message")):
        hint = "; its text is in .text" if isinstance(getattr(value, "text", None), str) else ""
        raise MessageError(
            f"a strategy yielded {_of_type(value)}; expected a ToolInvokeMessage, "
            f"a dict with 'type' and 'message', or a str{hint}"
        )
    return {"type": value.type, "message": value.message, "meta": getattr(value, "meta", None)}


def _of_type(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def text_message(text: str, *, meta: dict[str, Any] | None = None) -> ToolInvokeMessage:
    """Text for the user. `meta={"reasoning": True}` marks a model's reasoning."""
    return ToolInvokeMessage(type=MessageType.TEXT, message=TextPayload(text=text), meta=meta)


def url_message(
    url: str,
    kind: Literal["link", "image", "image_link", "binary_link"] = "link",
    *,
    meta: dict[str, Any] | None = None,
) -> ToolInvokeMessage:
    """A link or an image given by its URL."""
    return ToolInvokeMessage(type=MessageType(kind), message=TextPayload(text=url), meta=meta)


def json_message(value: dict[str, Any] | list[Any], *, suppress_output: bool = False) -> ToolInvokeMessage:
    """A JSON object or list."""
    payload = JsonPayload(json_object=value, suppress_output=suppress_output)
    return ToolInvokeMessage(type=MessageType.JSON, message=payload)


def blob_message(blob: bytes, *, mime_type: str, filename: str | None = None) -> ToolInvokeMessage:
    """Bytes of a file; one above the item limit is split and joined on the way."""
    meta = {"mime_type": mime_type} | ({"filename": filename} if filename else {})
    return ToolInvokeMessage(type=MessageType.BLOB, message=BlobPayload(blob=blob), meta=meta)


def file_message(file: Mapping[str, Any]) -> ToolInvokeMessage:
    """A file that exists elsewhere, as a reference (`url` or `id`, `filename`, `mime_type`)."""
    return ToolInvokeMessage(type=MessageType.FILE, message=FilePayload(), meta={"file": dict(file)})


def variable_message(name: str, value: Any, *, stream: bool = False) -> ToolInvokeMessage:
    """A named value of the outcome."""
    payload = VariablePayload(variable_name=name, variable_value=value, stream=stream)
    return ToolInvokeMessage(type=MessageType.VARIABLE, message=payload)


def retriever_message(resources: list[dict[str, Any]], context: str = "") -> ToolInvokeMessage:
    """What a retrieval found."""
    payload = RetrieverResourcesPayload(retriever_resources=resources, context=context)
    return ToolInvokeMessage(type=MessageType.RETRIEVER_RESOURCES, message=payload)


def log_message(
    label: str,
    *,
    data: Mapping[str, Any] | None = None,
    parent: ToolInvokeMessage | None = None,
    status: LogStatus = LogStatus.START,
    metadata: Mapping[str, Any] | None = None,
) -> ToolInvokeMessage:
    """Opens (or, with a final status, writes at once) one node of the log tree.

    Args:
        label: What is shown of it.
        data: What it holds; JSON values.
        parent: The log message that it stands under; None is the outermost.
        status: Where it stands; one with a final status is not finished any more.
        metadata: Facts for whoever shows it, such as seconds or tokens.

    Raises:
        MessageError: `parent` is no log message.
    """
    payload = LogPayload(
        label=label,
        parent_id=log_of(parent).id if parent else None,
        status=status,
        data=dict(data or {}),
        metadata=dict(metadata or {}),
    )
    return ToolInvokeMessage(type=MessageType.LOG, message=payload)


def finish_log(
    log: ToolInvokeMessage,
    *,
    data: Mapping[str, Any] | None = None,
    error: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> ToolInvokeMessage:
    """The message that closes a log node: success, or error with its text.

    Args:
        log: The message that opened it.
        data: What it holds now; None leaves what it held.
        error: Why it failed; None is success.
        metadata: Facts beside those that it has.

    Raises:
        MessageError: `log` is no log message.
    """
    start = log_of(log)
    status = LogStatus.ERROR if error is not None else LogStatus.SUCCESS
    payload = start.model_copy(
        update={
            "status": status,
            "error": error,
            "data": start.data if data is None else dict(data),
            "metadata": start.metadata | dict(metadata or {}),
        }
    )
    return ToolInvokeMessage(type=MessageType.LOG, message=payload)


def log_of(message: ToolInvokeMessage) -> LogPayload:
    """The payload of a log message.

    Raises:
        MessageError: The message is of another type.
    """
    if not isinstance(message.message, LogPayload):
        raise MessageError(f"expected a log message, got one of type {message.type.value!r}")
    return message.message
