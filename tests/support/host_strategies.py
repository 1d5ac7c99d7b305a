"""Strategies that the host's own tests run, by name from this folder; they know nothing of the tests."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any


class Echo:
    """Says what it was given."""

    meta_version = "1"

    def get_parameters(self) -> list[dict[str, Any]]:
        return [
            {"name": "query", "type": "string", "required": True},
            {"name": "times", "type": "number", "default": 1, "min": 1, "max": 9, "precision": 0},
            {"name": "key", "type": "secret-input"},
        ]

    def invoke(self, *, params: dict[str, Any], user_id: str, conversation_id: str | None = None) -> Iterator[Any]:
        for _ in range(params["times"]):
            yield f"{user_id}/{conversation_id}: {params['query']}\n"


class Files:
    """Sends a large blob, a link, a variable in two pieces, JSON and a log that it never closes."""

    def get_parameters(self) -> list[Any]:
        return []

    def invoke(self, **_: Any) -> Iterator[dict[str, Any]]:
        yield {"type": "log", "message": {"id": "1", "label": "step", "status": "start"}}
        meta = {"mime_type": "application/octet-stream", "filename": "big.bin"}
        yield {"type": "blob", "message": {"blob": bytes(3_000_000)}, "meta": meta}
        yield {"type": "link", "message": {"text": "https://pictures.example/"}}
        yield {"type": "variable", "message": {"variable_name": "poem", "variable_value": "so ", "stream": True}}
        yield {"type": "variable", "message": {"variable_name": "poem", "variable_value": "long", "stream": True}}
        yield {"type": "json", "message": {"json_object": {"execution_metadata": {"total_tokens": 5}}}}
        yield {"type": "json", "message": {"json_object": [1, 2]}}


class Waits:
    """Says one thing and then waits until it is stopped."""

    def get_parameters(self) -> list[Any]:
        return []

    async def invoke(self, **_: Any) -> AsyncIterator[str]:
        yield "waiting"
        await asyncio.Event().wait()


class Breaks:
    """Says one thing and then fails."""

    def get_parameters(self) -> list[Any]:
        return []

    def invoke(self, **_: Any) -> Iterator[str]:
        yield "half of "
        raise KeyError("the other half")


class Remembers:
    """Counts its runs in the small storage."""

    def get_parameters(self) -> list[Any]:
        return []

    def invoke(self, *, session: Any, **_: Any) -> Iterator[str]:
        count = (session.storage.get("count").wait() or 0) + 1
        session.storage.set("count", count).wait()
        yield str(count)


class Misfit:
    """Has three faults."""

    label = 7

    def get_parameters(self) -> str:
        return "none"

    async def invoke(self, *, params: dict[str, Any], budget: int) -> None:
        raise NotImplementedError(params, budget)
