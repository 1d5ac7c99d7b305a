"""What is made ready before the first run."""

import pytest

from enfilade.agent import AgentConfig
from enfilade.errors import StrategyNotFoundError
from enfilade.host import Host
from enfilade.tools.entry import ToolEntry
from enfilade_sdk.errors import EnfiladeError

LOST = (ToolEntry(tool="no_such_module:tool", required=True),)


async def test_an_agent_that_was_prepared_is_open(host: Host) -> None:
    admitted = await host.prepare(AgentConfig(strategy="echo", tools=("calculator",)))
    assert admitted is await host.open("echo")
    assert (await host.ask(AgentConfig(strategy="echo"), "ahoy")).answer == "user/None: ahoy\n"


async def test_a_strategy_that_nobody_offers_is_told_as_such(host: Host) -> None:
    with pytest.raises(StrategyNotFoundError, match="did you mean 'echo'"):
        await host.prepare(AgentConfig(strategy="ecko", tools=LOST))


async def test_a_tool_that_cannot_be_had_is_told_as_such(host: Host) -> None:
    with pytest.raises(EnfiladeError, match="no_such_module"):
        await host.prepare(AgentConfig(strategy="echo", tools=LOST))
    assert (await host.prepare(AgentConfig(strategy="echo"))).name == "echo"
