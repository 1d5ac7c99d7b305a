"""The price of a call, for layers that cannot do their work without it."""

from decimal import Decimal

from enfilade.errors import ConfigError
from enfilade.layers.context import RunContext
from enfilade_sdk.prompts import Usage


def known_price(context: RunContext, usage: Usage, purpose: str) -> Decimal:
    """What a call of the run's model costs, in US dollars. `context.prices.loaded` has been awaited before.

    Args:
        context: The run.
        usage: The call's tokens, both counts known.
        purpose: What cannot be held without it, such as `the limit max_cost = 1`.

    Raises:
        ConfigError: The model's price is not known.
    """
    cost = context.prices.cost(context.model_name, context.settings, usage)
    if cost is None:
        name = context.model_name
        raise ConfigError(
            f"{purpose} cannot be held, because the price of the model {name!r} is not known: add [prices.{name}] with "
            "input and output (US dollars for a million tokens) to the configuration, or take the bound away"
        )
    return cost
