"""The one way to every model of a host."""

from collections.abc import AsyncGenerator, Callable, Mapping

from enfilade.errors import near_matches
from enfilade.models.provider import ModelProvider
from enfilade.models.providers import PROVIDERS
from enfilade.models.settings import ModelSettings
from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult

DEMO = "demo"
"""The model there always is: rules, not a language model."""


class ModelNotFoundError(InvalidParamsError):
    """No model of that name, or no provider of that kind, is configured."""


class ModelGateway:
    """Finds models by name and asks them. Belongs to one event loop.

    Args:
        models: The models of the configuration, by the names used here; `demo` is there even when it is not among them.
        default: The name that stands for none given; None is the built-in `demo`.
        providers: The kinds of providers there are.
    """

    def __init__(
        self,
        models: Mapping[str, ModelSettings],
        default: str | None = None,
        providers: Mapping[str, Callable[[], ModelProvider]] = PROVIDERS,
    ) -> None:
        named = {
            name: model if model.name else model.model_copy(update={"name": name}) for name, model in models.items()
        }
        self._models = {DEMO: ModelSettings(name=DEMO, provider=DEMO), **named}
        self._default = default or DEMO
        self._factories = providers
        self._providers: dict[str, ModelProvider] = {}

    @property
    def default(self) -> str:
        """The name of the model that is asked when none is named."""
        return self._default

    def names(self) -> list[str]:
        """The names of all models, in order."""
        return sorted(self._models)

    def resolve(self, name: str | None) -> ModelSettings:
        """The settings of a model; None or an empty name is the default.

        Raises:
            ModelNotFoundError: There is none of that name; the text names near matches.
        """
        wanted = name or self._default
        model = self._models.get(wanted)
        if model is None:
            raise ModelNotFoundError(
                f"there is no model named {wanted!r}; {near_matches(wanted, self.names())}\n"
                f"Add [models.{wanted}] to the configuration, or give --base-url for a model that needs none",
                details={"model": wanted, "known": self.names()},
            )
        return model

    def info(self, name: str | None = None) -> ModelInfo:
        """What a strategy is told of a model.

        Raises:
            ModelNotFoundError: There is none of that name.
        """
        model = self.resolve(name)
        return self._provider(model).info(model)

    def warm(self, name: str | None = None) -> None:
        """Begins in the background what the first call of a model would have to wait for.

        Raises:
            ModelNotFoundError: There is none of that name.
        """
        model = self.resolve(name)
        self._provider(model).warm(model)

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Asks the model that a request names: chunks, then exactly one result. See `ModelProvider.stream`.

        Raises:
            ModelNotFoundError: There is none of that name.
            ModelFailedError: The provider refused or broke off (while the generator is read).
        """
        model = self.resolve(request.model)
        return self._provider(model).stream(model, request)

    async def aclose(self) -> None:
        """Closes all providers; the gateway is of no use afterwards."""
        providers, self._providers = self._providers, {}
        for provider in providers.values():
            await provider.aclose()

    def _provider(self, model: ModelSettings) -> ModelProvider:
        provider = self._providers.get(model.provider)
        if provider is None:
            factory = self._factories.get(model.provider)
            if factory is None:
                raise ModelNotFoundError(
                    f"model {model.name!r} has the provider {model.provider!r}, of which there is none; "
                    f"{near_matches(model.provider, self._factories)}",
                    details={"model": model.name, "provider": model.provider, "known": sorted(self._factories)},
                )
            provider = self._providers[model.provider] = factory()
        return provider
