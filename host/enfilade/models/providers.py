"""Which kinds of providers there are. A new kind is one file and one line here."""

from collections.abc import Callable, Mapping
from typing import Final

from enfilade.models.openai import OpenAIProvider
from enfilade.models.provider import ModelProvider

PROVIDERS: Final[Mapping[str, Callable[[], ModelProvider]]] = {
    "openai": OpenAIProvider,
}
