"""How much an answer of a tool is."""

from enfilade_sdk.messages import BlobChunkPayload, BlobPayload, TextPayload, ToolInvokeMessage


def size_of(message: ToolInvokeMessage) -> int:
    """Bytes (characters, for text) of a message's payload."""
    payload = message.message
    if isinstance(payload, TextPayload):
        return len(payload.text)
    if isinstance(payload, BlobPayload | BlobChunkPayload):
        return len(payload.blob)
    return len(payload.model_dump_json())
