"""Values to the wire and back, both ways in one file for each kind of value."""

from enfilade_sdk.codec.description import description_from_wire, description_to_wire
from enfilade_sdk.codec.failure import (
    ERROR_BYTES,
    ERROR_CHARACTERS,
    failure_from_wire,
    failure_to_wire,
    run_failure_from_wire,
    run_failure_to_wire,
)
from enfilade_sdk.codec.message import message_from_wire, message_to_wire, write_message
from enfilade_sdk.codec.model_call import (
    chunk_from_wire,
    chunk_to_wire,
    model_request_from_wire,
    model_request_to_wire,
    result_from_wire,
    result_to_wire,
)
from enfilade_sdk.codec.prompt import prompt_from_text, prompt_text, tools_from_wire, tools_to_wire
from enfilade_sdk.codec.protocol import PROTOCOL
from enfilade_sdk.codec.start import start_from_wire, start_to_wire
from enfilade_sdk.codec.storage_call import storage_request_from_wire, storage_request_to_wire
from enfilade_sdk.codec.tool_call import (
    tool_request_from_wire,
    tool_request_to_wire,
    tool_result_from_wire,
    tool_result_to_wire,
)

__all__ = [
    "ERROR_BYTES",
    "ERROR_CHARACTERS",
    "PROTOCOL",
    "chunk_from_wire",
    "chunk_to_wire",
    "description_from_wire",
    "description_to_wire",
    "failure_from_wire",
    "failure_to_wire",
    "message_from_wire",
    "message_to_wire",
    "model_request_from_wire",
    "model_request_to_wire",
    "prompt_from_text",
    "prompt_text",
    "result_from_wire",
    "result_to_wire",
    "run_failure_from_wire",
    "run_failure_to_wire",
    "start_from_wire",
    "start_to_wire",
    "storage_request_from_wire",
    "storage_request_to_wire",
    "tool_request_from_wire",
    "tool_request_to_wire",
    "tool_result_from_wire",
    "tool_result_to_wire",
    "tools_from_wire",
    "tools_to_wire",
    "write_message",
]
