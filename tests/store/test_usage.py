"""Sums of tokens and costs."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from enfilade.outcome import Status
from enfilade.store.runs import delete_run
from enfilade.store.start import RunStart
from enfilade.store.store import Store
from enfilade.store.usage import Group, UsageScope, usage_by
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import AssistantMessage, ModelRequest, ModelResult, Usage, UserMessage

FULL = Usage(prompt_tokens=100, completion_tokens=10, total_tokens=110, cached_tokens=60, reasoning_tokens=4)
BARE = Usage(prompt_tokens=7, completion_tokens=1, total_tokens=8)


async def run(store: Store, run_id: str, *used: tuple[Usage, Decimal | None], model: str = "m1", **more: Any) -> None:
    record = await store.records.run_began(RunStart(run_id, "fc", "Hello?", **more))
    for usage, cost in used:
        entry = await record.model_began(ModelRequest((UserMessage(content="Hello?"),)), model=model, provider="p")
        entry.ended(ModelResult(AssistantMessage(content="x"), usage=usage), cost=cost)
    record.ended(Status.SUCCEEDED)


@pytest.fixture
async def used(store: Store) -> Store:
    await run(store, "r1", (FULL, Decimal("0.000000001")), (BARE, Decimal("0.1")), user_id="ada", conversation_id="c1")
    await run(store, "r2", (BARE, Decimal("0.2")), user_id="ada", conversation_id="c2", model="m2", plugin="fc")
    await run(store, "r3", (Usage(), None), (FULL, None), user_id="bob")
    await run(store, "r4", user_id="eve")
    return store


async def test_cached_and_reasoning_tokens_are_summed_apart(used: Store) -> None:
    found = await used.usage(UsageScope(run_id="r1"))
    assert found.usage == Usage(
        prompt_tokens=107, completion_tokens=11, total_tokens=118, cached_tokens=60, reasoning_tokens=4
    )
    assert found.cost == Decimal("0.100000001")
    assert (found.calls, found.unknown, found.unpriced) == (2, 0, 0)


@pytest.mark.parametrize(
    ("scope", "prompt", "calls"),
    [
        (UsageScope(), 214, 5),
        (UsageScope(conversation_id="c1"), 107, 2),
        (UsageScope(user_id="ada"), 114, 3),
        (UsageScope(user_id="ada", model="m2"), 7, 1),
        (UsageScope(plugin="fc"), 7, 1),
        (UsageScope(provider="p", user_id="bob"), 100, 2),
        (UsageScope(user_id="nobody"), None, 0),
        (UsageScope(run_id="r4"), None, 0),
    ],
    ids=repr,
)
async def test_sums_by_every_scope(used: Store, scope: UsageScope, prompt: int | None, calls: int) -> None:
    found = await used.usage(scope)
    assert (found.usage.prompt_tokens, found.calls) == (prompt, calls)


async def test_what_nobody_said_is_unknown_and_not_nothing(used: Store) -> None:
    found = await used.usage(UsageScope(user_id="bob"))
    assert (found.usage, found.cost, found.calls, found.unknown, found.unpriced) == (FULL, None, 2, 1, 2)
    nothing = await used.usage(UsageScope(user_id="eve"))
    assert (nothing.usage, nothing.cost, nothing.unknown) == (Usage(), None, 0)
    assert nothing.to_json()["usage"]["prompt_tokens"] is None
    assert nothing.to_json()["cost"] == 0
    assert found.to_json()["cost"] == "unknown"


async def test_a_call_counts_as_soon_as_it_begins_and_when_it_fails(store: Store) -> None:
    record = await store.records.run_began(RunStart("r1", "fc", "Hello?", user_id="ada"))
    entry = await record.model_began(ModelRequest((UserMessage(content="Hello?"),)))
    assert (await store.usage(UsageScope(user_id="ada"))).calls == 1
    entry.failed(ModelFailedError("away"))
    found = await store.usage(UsageScope(user_id="ada"))
    assert (found.calls, found.unknown) == (1, 1)


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("user_id", {"ada": 114, "bob": 100}),
        ("model", {"m1": 207, "m2": 7}),
        ("conversation_id", {"c1": 107, "c2": 7, None: 100}),
        ("run_id", {"r1": 107, "r2": 7, "r3": 100}),
    ],
)
async def test_sums_for_each_apart(used: Store, group: Group, expected: dict[str | None, int]) -> None:
    await used.records.flush()
    found = await usage_by(used.database, group)
    assert {name: total.usage.prompt_tokens for name, total in found.items()} == expected


async def test_sums_over_a_time(used: Store) -> None:
    now = datetime.now(UTC)
    assert (await used.usage(UsageScope(since=now - timedelta(minutes=5)))).calls == 5
    assert (await used.usage(UsageScope(since=now + timedelta(minutes=5)))).calls == 0


async def test_sums_outlast_a_deleted_run_unless_it_is_deleted_with_them(used: Store) -> None:
    await used.records.flush()
    await delete_run(used.database, "r1")
    assert (await used.usage(UsageScope(user_id="ada"))).usage.prompt_tokens == 114
    await delete_run(used.database, "r2", with_usage=True)
    assert (await used.usage(UsageScope(user_id="ada"))).usage.prompt_tokens == 107


async def test_great_numbers_are_summed_without_loss(store: Store) -> None:
    most = Usage(prompt_tokens=2**62, completion_tokens=1)
    await run(store, "r1", (most, Decimal("0.1")), (Usage(prompt_tokens=1), Decimal("0.2")))
    found = await store.usage(UsageScope(run_id="r1"))
    assert (found.usage.prompt_tokens, found.cost) == (2**62 + 1, Decimal("0.3"))
