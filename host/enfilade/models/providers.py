"""Which kinds of providers there are. A new kind is one file and one line here."""

from collections.abc import Callable, Mapping
from typing import Final

from enfilade.models.demo.provider import DemoProvider
from enfilade.models.openai import OpenAIProvider
from enfilade.models.provider import ModelProvider

PROVIDERS: Final[Mapping[str, Callable[[], ModelProvider]]] = {
    "demo": DemoProvider,
    "openai": OpenAIProvider,
}
