"""What every kind of model provider can do."""

from collections.abc import AsyncGenerator
from typing import Protocol

from enfilade.models.settings import ModelSettings
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult


class ModelProvider(Protocol):
    """Answers for the models of one kind. Everything is called from one event loop."""

    def info(self, model: ModelSettings) -> ModelInfo:
        """What a strategy is told of the model; never waits and never fails."""
        ...

    def warm(self, model: ModelSettings) -> None:
        """Begins, without waiting, whatever the first call would have to wait for; faults show at that call."""
        ...

    def stream(self, model: ModelSettings, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Asks the model once: chunks as they arrive, then exactly one result.

        Closing the generator, or cancelling whoever reads it, ends the request at the provider.

        Raises:
            ModelFailedError: The provider refused, broke off or sent what cannot be read. `details`: `status` (HTTP, or
                None), `retryable`, `provider`, `model`, `endpoint`, `type`.
        """
        ...

    async def aclose(self) -> None:
        """Gives back what is held open; the provider is of no use afterwards."""
        ...
