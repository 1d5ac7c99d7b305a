"""JSON-RPC 2.0 messages in the form in which MCP uses them."""

from dataclasses import dataclass
from typing import Any

from enfilade.tools.json_value import NotJsonError, clean_text, compact_json

JsonObject = dict[str, Any]

METHOD_NOT_FOUND = -32601

_VERSION = "2.0"


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer to a request of ours.

    Attributes:
        number: The request's number; None where the server names no request that can be ours.
        result: What it gave; None for an error.
        error: The error, as it came; None for a result.
    """

    number: int | None
    result: JsonObject | None = None
    error: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the server's, which waits for an answer of ours."""

    id: int | str
    method: str


@dataclass(frozen=True, slots=True)
class Told:
    """A notification of the server's."""

    method: str
    params: JsonObject


def request(number: int, method: str, params: JsonObject) -> JsonObject:
    """A request of ours."""
    return {"jsonrpc": _VERSION, "id": number, "method": method, "params": params}


def notification(method: str, params: JsonObject | None = None) -> JsonObject:
    """A notification of ours."""
    message: JsonObject = {"jsonrpc": _VERSION, "method": method}
    return message if params is None else message | {"params": params}


def answer(identity: int | str, result: JsonObject) -> JsonObject:
    """An answer to a request of the server's."""
    return {"jsonrpc": _VERSION, "id": identity, "result": result}


def refusal(identity: int | str, method: str) -> JsonObject:
    """An answer to a request of the server's that this client has no answer to."""
    error = {"code": METHOD_NOT_FOUND, "message": f"this client has no method {method}"}
    return {"jsonrpc": _VERSION, "id": identity, "error": error}


def read_message(value: object) -> Answer | Asked | Told | None:
    """What a JSON value says as a message; None where it is none."""
    if not isinstance(value, dict) or value.get("jsonrpc") != _VERSION:
        return None
    method, identity = value.get("method"), value.get("id")
    if isinstance(method, str):
        if isinstance(identity, str | int) and not isinstance(identity, bool):
            return Asked(identity, method)
        params = value.get("params")
        return Told(method, params if isinstance(params, dict) else {})
    if isinstance(error := value.get("error"), dict):
        return Answer(_number(identity), error=error)
    if "result" in value:
        result = value["result"]
        return Answer(_number(identity), result=result if isinstance(result, dict) else {"content": result})
    return None


def shown(value: object, most: int) -> str:
    """A value for a text or a log: a text as it is, else compact JSON; at most so many characters."""
    if isinstance(value, str):
        return clean_text(value[:most])
    try:
        return compact_json(value)[:most]
    except NotJsonError as error:
        return f"(a value that is not shown: {error})"


def _number(identity: object) -> int | None:
    """The number of a request; some servers give it back as a text."""
    if isinstance(identity, str) and identity.isascii() and identity.isdecimal() and len(identity) < 16:  # noqa: PLR2004
        return int(identity)
    return identity if isinstance(identity, int) and not isinstance(identity, bool) else None
