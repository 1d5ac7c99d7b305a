"""The way messages take to a server and back."""

from typing import Protocol

from enfilade.tools.mcp.message import JsonObject


class Inbox(Protocol):
    """Where a transport puts what comes from the server."""

    def receive(self, value: object) -> bool | None:
        """Takes in a JSON value: a message, or a list of messages.

        Returns:
            Whether something waited for it; None where it is no message at all.
        """
        ...

    def fail(self, number: int, error: Exception) -> None:
        """Ends one open request; one that is not open is passed over."""
        ...

    def lose(self, error: Exception) -> None:
        """Ends every open request, since nothing more can come."""
        ...


class Transport(Protocol):
    """One connection to a server. Used by one task at a time, and by `send` and `cancel` from anywhere on the loop."""

    async def open(self, inbox: Inbox) -> None:
        """Opens it.

        Raises:
            McpError: It cannot be opened.
        """
        ...

    async def ready(self) -> None:
        """Waits until a further request may be sent, so that nothing piles up for a server that reads nothing."""
        ...

    def send(self, message: JsonObject) -> None:
        """Sends a message; never waits. What goes wrong is told to the inbox."""
        ...

    def cancel(self, number: int, reason: str) -> None:
        """Tells the server that nobody waits any more for a request that was sent."""
        ...

    async def agreed(self, version: str, *, stateless: bool) -> None:
        """Takes note of the protocol version that both sides have agreed on."""
        ...

    def listed(self, tools: list[JsonObject]) -> None:
        """Takes note of the server's tools."""
        ...

    def last_words(self) -> str:
        """What is known of a server that does not answer; empty where nothing is."""
        ...

    async def close(self) -> None:
        """Closes it and everything that belongs to it. May be called at any time, also before `open`."""
        ...
