"""A host on another event loop than asyncio's own: web servers bring theirs."""

from typing import Any

import pytest

from enfilade.agent import AgentConfig
from enfilade.candidate import Candidate, Isolation
from enfilade.config import Config
from enfilade.host import Host
from enfilade.isolation.launcher import Launcher
from enfilade.models.settings import ModelSettings
from enfilade.tools.entry import ToolEntry
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.serving.handshake import GRPC, LINK
from tests.support.model_server import ModelServer
from tests.support.model_turns import call_turn, text_turn
from tests.support.trial_run import texts, trial_candidate

uvloop = pytest.importorskip("uvloop", reason="there is no uvloop for this system")


def double(number: int) -> int:
    """Doubles a number."""
    return 2 * number


def test_an_agent_calls_its_tool_and_answers(isolation: Isolation) -> None:
    async def ask() -> tuple[str, list[Any]]:
        async with ModelServer([call_turn("double", {"number": 21}), text_turn("It is ", "42.")]) as server:
            models = {"m": ModelSettings(name="m", base_url=server.base_url)}
            config = Config(models=models, default_model="m", isolation=isolation)
            async with Host(config) as host:
                outcome = await host.ask(AgentConfig(tools=(ToolEntry(tool=double),)), "Double 21.")
                outcome.raise_for_error()
                return outcome.answer, server.requests[1].body["messages"]

    answer, messages = uvloop.run(ask())
    assert answer == "It is 42."
    assert messages[-1]["content"] == "42"


@pytest.mark.parametrize("transport", [LINK, GRPC])
def test_a_run_goes_over_either_transport(transport: str) -> None:
    async def said() -> list[str]:
        launcher = Launcher(transports=(transport,))
        guest = launcher.guest(trial_candidate())
        try:
            return await texts(guest, "Flood", n=3)
        finally:
            await guest.stop()
            await launcher.close()

    assert uvloop.run(said()) == ["0", "1", "2"]


def test_a_plugin_that_is_no_program_says_so() -> None:
    async def refusal() -> str:
        async with Host(Config(), candidates=[Candidate(plugin="none", command=("/no/such/program",))]) as host:
            with pytest.raises(EnfiladeError) as caught:
                await host.open("none")
            return caught.value.message

    assert "/no/such/program: No such file or directory" in uvloop.run(refusal())
