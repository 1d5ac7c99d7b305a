"""Failures of calls and runs: to the wire and back."""

from collections.abc import Mapping
from typing import Any

from enfilade_sdk.errors import EnfiladeError, error_from_code
from enfilade_sdk.json_text import clean, json_object, json_text
from enfilade_wire.v1 import strategy_pb2 as pb

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
