"""Strategies that do as little as can be, so that what is measured is the way and not the work."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

TEXT = "a token or two "


class OneMessage:
    """Sends one message."""

    name = "one-message"

    def get_parameters(self) -> list[dict[str, Any]]:
        """None."""
        return []

    async def invoke(self, *, params: dict[str, Any]) -> AsyncIterator[str]:
        """Sends the question back."""
        yield params["query"]


class Flood:
    """Sends as many messages as the question says."""

    name = "flood"

    def get_parameters(self) -> list[dict[str, Any]]:
        """None."""
        return []

    async def invoke(self, *, params: dict[str, Any]) -> AsyncIterator[str]:
        """Sends the same text again and again."""
        for _ in range(int(params["query"])):
            yield TEXT


class Forward:
    """Passes the model's chunks on."""

    name = "forward"

    def get_parameters(self) -> list[dict[str, Any]]:
        """None."""
        return []

    async def invoke(self, *, params: dict[str, Any], session: Any) -> AsyncIterator[str]:
        """Asks once."""
        async for chunk in session.model.invoke([{"role": "user", "content": params["query"]}]):
            yield chunk.text


class Waits:
    """Sends one message and waits until it is stopped."""

    name = "waits"

    def get_parameters(self) -> list[dict[str, Any]]:
        """None."""
        return []

    async def invoke(self) -> AsyncIterator[str]:
        """Waits."""
        yield TEXT
        await asyncio.Event().wait()
