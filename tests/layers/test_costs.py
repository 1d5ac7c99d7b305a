import threading
from decimal import Decimal
from typing import Any

import pytest

from enfilade.config import Price
from enfilade.layers.costs import Costs
from enfilade.layers.prices import Prices, Published
from enfilade.ledger import Cost
from enfilade.models.settings import ModelSettings
from enfilade_sdk.prompts import Usage
from tests.layers.scenario import hosted, told
from tests.support.model_turns import text_turn

LOCAL = ModelSettings(name="gpt-5-mini", base_url="http://127.0.0.1:8000/v1")
OPENAI = ModelSettings(name="gpt-5-mini")
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}


def usage(prompt: int | None, completion: int | None, cached: int | None = None) -> Usage:
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)


def test_the_operators_price_is_for_the_name_here_or_at_the_provider() -> None:
    for name in ("m", "gpt-5-mini"):
        prices = Prices({name: Price(input=Decimal(2), output=Decimal(10))})
        assert prices.cost("m", LOCAL, usage(1_000_000, 100_000)) == Decimal(3)
    assert Prices({"other": Price(input=Decimal(2), output=Decimal(10))}).cost("m", LOCAL, usage(1, 1)) is None


def test_cached_tokens_have_a_price_of_their_own() -> None:
    price = Price(input=Decimal(2), output=Decimal(0), cached=Decimal("0.5"))
    assert Prices({"m": price}).cost("m", LOCAL, usage(1_000_000, 0, cached=400_000)) == Decimal("1.4")
    same = Price(input=Decimal(2), output=Decimal(0))
    assert Prices({"m": same}).cost("m", LOCAL, usage(1_000_000, 0, cached=400_000)) == Decimal(2)


@pytest.mark.parametrize("counted", [usage(None, 10), usage(10, None), usage(None, None)])
def test_a_call_whose_tokens_are_unknown_has_an_unknown_price(counted: Usage) -> None:
    assert Prices({"m": Price(input=Decimal(2), output=Decimal(10))}).cost("m", LOCAL, counted) is None


async def test_published_prices_are_those_of_the_package() -> None:
    prices = Prices()
    await prices.loaded()
    cost = prices.cost("m", OPENAI, usage(1_000_000, 0))
    assert cost is not None
    assert cost > 0
    assert prices.cost("m", OPENAI, usage(1_000_000, 0, cached=1_000_000)) < cost  # type: ignore[operator]  # it is known


async def test_a_model_elsewhere_is_not_taken_for_its_namesake() -> None:
    prices = Prices()
    await prices.loaded()
    assert prices.cost("m", LOCAL, usage(1000, 100)) is None
    assert prices.cost("m", ModelSettings(name="gpt-5-mini", provider="demo"), usage(1000, 100)) is None


async def test_the_published_list_is_loaded_once_and_not_on_the_event_loop() -> None:
    threads: list[threading.Thread] = []

    def load() -> Published:
        threads.append(threading.current_thread())
        return lambda name, address, used: Decimal(7)

    prices = Prices(published=load)
    assert prices.cost("m", OPENAI, usage(1, 1)) is None
    prices.begin_loading()
    prices.begin_loading()
    await prices.loaded()
    assert prices.cost("m", OPENAI, usage(1, 1)) == 7
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()


@pytest.mark.parametrize("fault", [ImportError("no genai_prices"), ValueError("broken data")])
async def test_without_the_package_prices_are_unknown(fault: Exception) -> None:
    def load() -> Published:
        raise fault

    prices = Prices(published=load)
    await prices.loaded()
    assert prices.cost("m", OPENAI, usage(1, 1)) is None


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_the_outcome_says_what_a_run_cost(isolation: Any) -> None:
    prices = {"m": Price(input=Decimal(2), output=Decimal(10))}
    turns = [text_turn("a", usage=USAGE)]
    async with hosted([Costs()], turns, isolation=isolation, repeat_last=True, config={"prices": prices}) as host:
        outcome = await host.ask(told("ask", "ask"), "?")
    assert outcome.cost == Cost(Decimal("0.006"))
    assert outcome.to_json()["usage"] == {
        "prompt_tokens": 2000,
        "completion_tokens": 200,
        "total_tokens": 2200,
        "cached_tokens": None,
        "reasoning_tokens": None,
        "cost": 0.006,
        "currency": "USD",
    }
    assert [entry.to_json()["cost"] for entry in outcome.rounds] == [0.003, 0.003]


async def test_an_unknown_price_is_unknown_and_never_nothing() -> None:
    async with hosted([Costs()], [text_turn("a", usage=USAGE)]) as host:
        outcome = await host.ask(told("ask"), "?")
    assert outcome.cost == Cost(Decimal(0), unknown=1)
    assert outcome.cost.amount is None
    assert outcome.to_json()["usage"]["cost"] == "unknown"
    assert "known_cost" not in outcome.to_json()["usage"]


async def test_one_call_of_unknown_price_makes_the_sum_unknown_and_the_rest_is_said() -> None:
    prices = {"m": Price(input=Decimal(2), output=Decimal(10))}
    turns = [text_turn("a", usage=USAGE), text_turn("b")]
    async with hosted([Costs()], turns, config={"prices": prices}) as host:
        outcome = await host.ask(told("ask", "ask"), "?")
    form = outcome.to_json()["usage"]
    assert (form["cost"], form["known_cost"]) == ("unknown", 0.003)


async def test_cached_and_reasoning_tokens_are_kept_apart() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 400}, "completion_tokens_details": {"reasoning_tokens": 60}}
    said = USAGE | details
    price = Price(input=Decimal(2), output=Decimal(10), cached=Decimal(1))
    async with hosted([Costs()], [text_turn("a", usage=said)], config={"prices": {"m": price}}) as host:
        outcome = await host.ask(told("ask"), "?")
    assert (outcome.usage.cached_tokens, outcome.usage.reasoning_tokens) == (400, 60)
    assert outcome.cost == Cost(Decimal("0.0026"))


async def test_without_the_layer_nobody_asks_what_it_cost() -> None:
    async with hosted([], [text_turn("a", usage=USAGE)]) as host:
        outcome = await host.ask(told("ask"), "?")
    assert outcome.cost is None
    assert "cost" not in outcome.to_json()["usage"]
