"""What model calls cost: from the operator's own list, else from the `genai-prices` package (extra `[prices]`)."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from decimal import Decimal

from enfilade.config import Price
from enfilade.models.settings import ModelSettings
from enfilade_sdk.prompts import Usage

_log = logging.getLogger(__name__)

MILLION = 1_000_000

OPENAI = "https://api.openai.com/v1"
"""Where a model without an address of its own is."""

Published = Callable[[str, str, Usage], Decimal | None]
"""A published price list: what a call of a model at an address costs, None where that is not in it."""


class Prices:
    """Knows what models cost.

    Args:
        own: The operator's prices by model.
        published: Gets the published list, which may take a second; None is the one of `genai-prices`, if that is
            installed. It is called in a thread, once, when it is first needed.
    """

    def __init__(
        self, own: Mapping[str, Price] | None = None, published: Callable[[], Published] | None = None
    ) -> None:
        self._own = dict(own or {})
        self._load_published = published or _genai_prices
        self._published: Future[Published] | None = None

    def begin_loading(self) -> None:
        """Begins to load the published list, without waiting."""
        if self._published is None:
            self._published = Future()
            # A daemon: a program that ends early must not wait for an import.
            threading.Thread(target=self._load, args=(self._published,), name="prices", daemon=True).start()

    @property
    def are_loaded(self) -> bool:
        """Whether the published list can be asked."""
        return self._published is not None and self._published.done()

    async def loaded(self) -> None:
        """Waits until the published list can be asked."""
        self.begin_loading()
        if self._published is not None and not self._published.done():
            await asyncio.wrap_future(self._published)

    def cost(self, name: str, model: ModelSettings, usage: Usage) -> Decimal | None:
        """What a call costs in US dollars, once `loaded` has been awaited.

        Args:
            name: What the configuration calls the model.
            model: The model. One behind an address of its own is not taken for its namesake at another one.
            usage: The call's tokens. The cached ones are part of the prompt's, reasoning is part of the completion's.

        Returns:
            The price, or None where the model's price or the number of its tokens is not known.
        """
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        own = self._own.get(name) or self._own.get(model.name)
        if own is not None:
            return _by_price(own, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens or 0)
        address = _address(model)
        if not address or self._published is None or not self._published.done():
            return None
        return self._published.result()(model.name, address, usage)

    def _load(self, future: "Future[Published]") -> None:
        try:
            future.set_result(self._load_published())
        except ImportError:
            future.set_result(_unknown)
        except Exception:  # noqa: BLE001 - a price list that is broken makes prices unknown, no more
            _log.exception("the published prices cannot be read; what is not in [prices] is unknown")
            future.set_result(_unknown)


def _address(model: ModelSettings) -> str:
    """Where the model is; empty where that says nothing of its price."""
    if model.base_url is not None or model.provider != "openai":
        return model.base_url or ""
    return os.environ.get("OPENAI_BASE_URL") or OPENAI


def _by_price(price: Price, prompt: int, completion: int, cached: int) -> Decimal:
    kept = min(cached, prompt)
    kept_price = price.input if price.cached is None else price.cached
    return ((prompt - kept) * price.input + kept * kept_price + completion * price.output) / MILLION


def _unknown(_name: str, _base_url: str, _usage: Usage) -> Decimal | None:
    return None


def _genai_prices() -> Published:
    import genai_prices

    strangers: set[tuple[str, str]] = set()
    """Models that are not in the list: there are as many as the configuration has, and to look takes long."""

    def ask(name: str, base_url: str, usage: Usage) -> Decimal | None:
        if (name, base_url) in strangers:
            return None
        counted = genai_prices.Usage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cache_read_tokens=usage.cached_tokens,
        )
        try:
            return genai_prices.calc_price(counted, name, provider_api_url=base_url).total_price
        except LookupError:  # it does not know the address or the model
            strangers.add((name, base_url))
            return None
        except ValueError:  # it does not take counts like these
            return None

    return ask
