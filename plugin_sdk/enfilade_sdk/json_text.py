"""JSON text of values and back, where it crosses the wire."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, from_json, to_json

from enfilade_sdk.errors import ProtocolError
from enfilade_sdk.messages import MessageError


def json_text(value: Any) -> str:
    """JSON text of a value.

    Objects that JSON does not know become their text, NaN and infinity null, lone surrogates (which come from file
    names and from badly cut JSON) the replacement character.

    Raises:
        MessageError: The value refers to itself.
    """
    try:
        return _text(value)
    except (PydanticSerializationError, ValueError):
        pass
    try:
        return _text(_cleaned(value))
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise MessageError(f"a value cannot be written as JSON: {error}") from None


def json_value(text: str, what: str) -> Any:
    """The value of a JSON text.

    Raises:
        ProtocolError: It is not JSON; the error names the field.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ProtocolError(f"field {what}: expected JSON text, got {text[:80]!r} ({error})") from None


def json_object(text: str, what: str) -> dict[str, Any]:
    """The object of a JSON text, empty for an empty text.

    Raises:
        ProtocolError: It is not a JSON object.
    """
    if not text:
        return {}
    value = json_value(text, what)
    if not isinstance(value, dict):
        raise ProtocolError(f"field {what}: expected a JSON object, got {text[:80]!r}")
    return value


def clean(text: str) -> str:
    """The text as UTF-8 can hold it: surrogates that make a pair are joined, lone ones replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(value: Any) -> str:
    return to_json(value, inf_nan_mode="null", serialize_unknown=True, bytes_mode="base64").decode()


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, BaseModel):
        return _cleaned(value.model_dump())
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_cleaned(item) for item in value]
    return value
