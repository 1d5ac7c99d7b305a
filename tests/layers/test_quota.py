import asyncio
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from enfilade.briefing import Question
from enfilade.config import Price
from enfilade.errors import ConfigError
from enfilade.layers.counts import MemoryCounts
from enfilade.layers.quota import Quota
from enfilade_sdk.errors import ErrorCode, ModelFailedError, QuotaExceededError
from enfilade_sdk.prompts import ModelChunk, ModelRequest, Usage, UserMessage
from tests.layers.scenario import (
    LOOK,
    REQUEST,
    answer,
    collected,
    context,
    hosted,
    model_inner,
    run_layers,
    told,
    tool_inner,
)
from tests.support.model_turns import Turn, text_turn


@pytest.mark.parametrize("isolation", ["inprocess", "process"])
async def test_of_two_runs_at_once_only_one_gets_the_last_call(isolation: Any) -> None:
    slow = Turn(text=["a", "b"], pause=0.1)
    async with hosted([Quota(calls=1)], [slow], isolation=isolation, repeat_last=True) as host:
        outcomes = await asyncio.gather(*(host.ask(told("ask"), "?") for _ in range(2)))
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    assert [error.code for error in errors] == [ErrorCode.QUOTA_EXCEEDED]
    assert errors[0].message.startswith(
        "the quota of 1 calls in 3600 seconds for user 'user' is used up: 1 are used or set aside and this call takes "
        "about 1; some are free again in 36"
    )


async def test_tokens_are_set_aside_before_a_call_so_that_two_cannot_have_the_same_rest() -> None:
    gate = asyncio.Event()
    layer = Quota(tokens=1500)
    first = run_layers([layer]).model_calls(model_inner([ModelChunk("a"), gate, answer("a")]).stream)(REQUEST)
    await anext(first)
    with pytest.raises(QuotaExceededError, match="1002 are used or set aside and this call takes about 1002"):
        await collected(run_layers([layer]).model_calls(model_inner().stream)(REQUEST))
    gate.set()
    await collected(first)
    await collected(run_layers([layer]).model_calls(model_inner().stream)(REQUEST))


async def test_what_the_provider_counted_is_what_counts() -> None:
    layer = Quota(tokens=100, answer_tokens=10)
    usage = Usage(prompt_tokens=60, completion_tokens=35, total_tokens=95)
    await collected(run_layers([layer]).model_calls(model_inner([answer("a", usage)]).stream)(REQUEST))
    with pytest.raises(QuotaExceededError) as caught:
        await collected(run_layers([layer]).model_calls(model_inner().stream)(REQUEST))
    details = caught.value.details
    assert details.pop("retry_after") > 3500
    assert details == {"quota": "tokens", "limit": 100, "used": 95, "asked": 12}


async def test_the_requests_own_bound_is_what_is_set_aside_for_its_answer() -> None:
    layer = Quota(tokens=100)
    request = ModelRequest(messages=(UserMessage(content="Well?"),), parameters={"max_tokens": 50})
    await collected(run_layers([layer]).model_calls(model_inner().stream)(request))


async def test_a_call_that_failed_gives_its_tokens_back_and_a_call_given_up_keeps_what_it_brought() -> None:
    layer = Quota(tokens=100, answer_tokens=80)
    with pytest.raises(ModelFailedError):
        await collected(run_layers([layer]).model_calls(model_inner([ModelFailedError("no")]).stream)(REQUEST))
    stream = run_layers([layer]).model_calls(model_inner([ModelChunk("x" * 120), answer()]).stream)(REQUEST)
    await anext(stream)
    await stream.aclose()
    with pytest.raises(QuotaExceededError, match="32 are used"):
        await collected(run_layers([layer]).model_calls(model_inner().stream)(REQUEST))


async def test_users_have_quotas_of_their_own() -> None:
    async with hosted([Quota(calls=1)], [text_turn("a")], repeat_last=True) as host:
        for user in ("ada", "bob"):
            assert (await host.ask(told("ask"), Question("?", user_id=user))).error is None
        for user in ("ada", "bob"):
            assert (await host.ask(told("ask"), Question("?", user_id=user))).error is not None


@pytest.mark.parametrize(
    ("per", "other", "shared"),
    [
        (("user",), {"user": "bob"}, False),
        (("user",), {"plugin": "q"}, True),
        (("plugin",), {"user": "bob"}, True),
        (("plugin",), {"plugin": "q"}, False),
        (("user", "model"), {"model_name": "n"}, False),
        (("user", "model"), {"plugin": "q"}, True),
        ((), {"user": "bob", "plugin": "q", "model_name": "n"}, True),
    ],
)
async def test_who_shares_a_quota(per: Any, other: dict[str, str], shared: bool) -> None:
    layer = Quota(per=per, calls=1)
    await collected(run_layers([layer], context()).model_calls(model_inner().stream)(REQUEST))
    refused = False
    try:
        await collected(run_layers([layer], context(**other)).model_calls(model_inner().stream)(REQUEST))  # type: ignore[arg-type]
    except QuotaExceededError:
        refused = True
    assert refused is shared


async def test_a_refused_tool_call_is_told_to_the_model() -> None:
    layer, inner = Quota(tool_calls=2), tool_inner()
    call = run_layers([layer]).tool_calls(inner.stream)
    for _ in range(2):
        await collected(call(LOOK))
    with pytest.raises(QuotaExceededError, match="the quota of 2 tool_calls"):
        await collected(call(LOOK))
    assert inner.opened == 2


async def test_money_is_a_quota_too() -> None:
    prices = {"m": Price(input=Decimal(0), output=Decimal(1000))}
    layer = Quota(cost=2.5)
    for _ in range(2):
        usage = Usage(prompt_tokens=5, completion_tokens=1000, total_tokens=1005)
        inner = model_inner([answer("a", usage)])
        await collected(run_layers([layer], context(prices=prices)).model_calls(inner.stream)(REQUEST))
    with pytest.raises(QuotaExceededError, match=r"the quota of 2\.5 cost .* 2 are used or set aside"):
        await collected(run_layers([layer], context(prices=prices)).model_calls(model_inner().stream)(REQUEST))


async def test_money_that_nobody_can_count_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"the quota cost = 1 cannot be held, because the price of the model 'm'"):
        await collected(run_layers([Quota(cost=1)]).model_calls(model_inner().stream)(REQUEST))


async def test_two_quotas_can_keep_their_counts_in_one_place() -> None:
    counts = MemoryCounts()
    hour, day = Quota(calls=2, window=3600, counts=counts), Quota(calls=3, window=86400, counts=counts)
    call = run_layers([hour, day]).model_calls(model_inner().stream)
    for _ in range(2):
        await collected(call(REQUEST))
    with pytest.raises(QuotaExceededError, match="in 3600 seconds"):
        await collected(call(REQUEST))
    await collected(run_layers([day]).model_calls(model_inner().stream)(REQUEST))


def test_a_quota_of_nothing_is_no_quota() -> None:
    with pytest.raises(ValidationError, match="give at least one of tokens, cost, calls, tool_calls"):
        Quota()
