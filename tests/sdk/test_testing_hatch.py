from typing import Any

import pytest

from enfilade_sdk.errors import InvalidParamsError, ModelFailedError, QuotaExceededError, ToolNotFoundError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.prompts import ModelRequest, ModelResult, StorageRequest, ToolRequest, ToolResult, UserMessage
from enfilade_sdk.testing import ScriptedHatch, ScriptedModel, ScriptedTools, Turn
from enfilade_sdk.testing.wired import WiredHatch

MESSAGES = (UserMessage(content="hello"),)


def scripted(**more: Any) -> ScriptedHatch:
    return ScriptedHatch(ScriptedModel("hi", repeat_last=True), ScriptedTools({"look": "sky"}), **more)


@pytest.fixture(params=["scripted", "wired"])
def hatch(request: pytest.FixtureRequest) -> Hatch:
    return scripted() if request.param == "scripted" else WiredHatch(scripted())


async def test_a_granted_model_answers(hatch: Hatch) -> None:
    for name in (None, "scripted"):
        *_, result = [answer async for answer in hatch.model(ModelRequest(MESSAGES, model=name))]
        assert isinstance(result, ModelResult)
        assert result.message.content == "hi"


async def test_a_granted_tool_answers(hatch: Hatch) -> None:
    *_, result = [answer async for answer in hatch.tool(ToolRequest("look", {}))]
    assert isinstance(result, ToolResult)
    assert result.text == "sky"


async def test_a_model_that_was_not_granted_is_refused_by_name(hatch: Hatch) -> None:
    with pytest.raises(ModelFailedError, match="the model 'other' was not granted to this run; granted are: scripted"):
        await anext(aiter(hatch.model(ModelRequest(MESSAGES, model="other"))))


async def test_a_tool_that_was_not_granted_is_refused_by_name(hatch: Hatch) -> None:
    with pytest.raises(ToolNotFoundError, match="there is not a tool named other"):
        await anext(aiter(hatch.tool(ToolRequest("other", {}))))


async def test_storage_keeps_values_until_they_are_deleted(hatch: Hatch) -> None:
    assert await hatch.storage(StorageRequest("get", "k")) is None
    await hatch.storage(StorageRequest("set", "k", {"a": [1]}))
    assert await hatch.storage(StorageRequest("get", "k")) == {"a": [1]}
    await hatch.storage(StorageRequest("delete", "k"))
    assert await hatch.storage(StorageRequest("get", "k")) is None


@pytest.mark.parametrize("key", ["", "k" * 257])
async def test_a_storage_key_has_its_limits(hatch: Hatch, key: str) -> None:
    with pytest.raises(InvalidParamsError, match="a storage key has 1 to 256 characters"):
        await hatch.storage(StorageRequest("get", key))


async def test_storage_has_a_limit_over_all_values(hatch: Hatch) -> None:
    await hatch.storage(StorageRequest("set", "a", "x" * 600_000))
    with pytest.raises(QuotaExceededError, match="the storage holds 1048576 bytes"):
        await hatch.storage(StorageRequest("set", "b", "x" * 600_000))
    await hatch.storage(StorageRequest("set", "a", "small"))
    await hatch.storage(StorageRequest("set", "b", "x" * 600_000))


async def test_refusals_and_open_calls_are_counted_and_further_models_granted() -> None:
    hatch = scripted(models={"second": ScriptedModel("two", Turn(hangs=True))})
    *_, result = [answer async for answer in hatch.model(ModelRequest(MESSAGES, model="second"))]
    assert isinstance(result, ModelResult)
    assert result.message.content == "two"
    for refused in (hatch.model(ModelRequest(MESSAGES, model="third")), hatch.tool(ToolRequest("x", {}))):
        with pytest.raises((ModelFailedError, ToolNotFoundError)):
            await anext(refused)
    assert hatch.refused == ["model third", "tool x"]
    running = hatch.model(ModelRequest(MESSAGES))
    await anext(running)
    assert hatch.open_calls == 1
    await running.aclose()
    assert hatch.open_calls == 0


async def test_what_is_stored_shares_nothing_with_what_was_given_and_must_be_json() -> None:
    stored: dict[str, Any] = {}
    hatch = scripted(storage=stored)
    value = {"a": [1]}
    await hatch.storage(StorageRequest("set", "k", value))
    value["a"].append(2)
    assert stored == {"k": {"a": [1]}}
    (await hatch.storage(StorageRequest("get", "k")))["a"].append(3)
    assert stored == {"k": {"a": [1]}}
    with pytest.raises(
        InvalidParamsError, match="storage 'k': expected a JSON value, got a value of the Python type set"
    ):
        await hatch.storage(StorageRequest("set", "k", {1, 2}))
