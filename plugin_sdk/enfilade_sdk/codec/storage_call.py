"""Uses of the small storage: to the wire and back."""

from typing import Any, cast

from enfilade_sdk.errors import ProtocolError
from enfilade_sdk.json_text import clean, json_text, json_value
from enfilade_sdk.prompts import (
    StorageRequest,
)
from enfilade_wire.v1 import strategy_pb2 as pb

_VERBS = {"get": pb.STORAGE_VERB_GET, "set": pb.STORAGE_VERB_SET, "delete": pb.STORAGE_VERB_DELETE}
_VERB_NAMES = {number: verb for verb, number in _VERBS.items()}


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
