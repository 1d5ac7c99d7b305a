"""What a tool is to the host: a name, words and a schema for the model, and a way to run it."""

from collections.abc import AsyncIterator
from typing import Any, Protocol, runtime_checkable

from enfilade_sdk.messages import ToolInvokeMessage


@runtime_checkable
class Tool(Protocol):
    """One tool, whatever it comes from.

    `invoke` gives the messages of one call. It is asked with arguments that fit the schema. A failure is an exception:
    an `EnfiladeError` where the tool chose the words for the model itself. When the call is cancelled the iterator is
    closed.

    Attributes:
        name: The tool's own name; the engine makes one of it that models accept.
        description: What it does, in words for the model.
        schema: JSON Schema of its arguments, or a list of host-level parameter declarations, as the source gave it;
            the engine makes it fit for models and refuses what cannot be.
        provider: Where it comes from, for logs.
        timeout: Seconds one call may take; None for the engine's own limit.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - see Attributes

    @property
    def description(self) -> str: ...  # noqa: D102

    @property
    def schema(self) -> object: ...  # noqa: D102

    @property
    def provider(self) -> str: ...  # noqa: D102

    @property
    def timeout(self) -> float | None: ...  # noqa: D102

    def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
        """Runs the tool once."""
        ...


@runtime_checkable
class Secretive(Protocol):
    """A tool that knows secrets of its own, such as keys for a server. Tools that know none need not have this."""

    @property
    def secrets(self) -> frozenset[str]:
        """Texts that no error may show."""
        ...


@runtime_checkable
class Changing(Protocol):
    """A source whose tools may change while a host runs. Sources that cannot change need not have this."""

    @property
    def outdated(self) -> bool:
        """Whether loading anew may bring other tools than the last loading did."""
        ...


class ToolSource(Protocol):
    """Something tools come from: a function, a file of functions, a server, a document."""

    @property
    def origin(self) -> str:
        """What the source is called in reports, such as `calculator` or `tools.py:weather`."""
        ...

    async def load(self) -> list[Tool]:
        """Finds the tools.

        Raises:
            EnfiladeError: They cannot be had; the text says why and what to do.
        """
        ...

    async def aclose(self) -> None:
        """Gives back what the source holds; its tools can no longer be called."""
        ...
