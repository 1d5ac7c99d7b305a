"""What is too large for the wire is refused with its size and the limit, and costs only itself."""

import pytest

from enfilade.isolation.launcher import Launcher
from enfilade_sdk.errors import LimitExceededError
from enfilade_sdk.invocation import Invocation
from tests.support.faulty_guest import started
from tests.support.trial_hatch import Chunks, TrialHatch, says
from tests.support.trial_run import messages, texts, trial_candidate

MIB = 1024 * 1024
LIMIT = "is over the limit of 8388608 bytes for one item"


async def test_an_answer_over_the_limit_is_an_error_and_the_connection_lives_on(launcher: Launcher) -> None:
    async with started(launcher, trial_candidate()) as guest:
        await guest.describe()
        pid = guest.pid
        with pytest.raises(LimitExceededError, match=rf"a tool's result of 671\d+ bytes {LIMIT}"):
            await messages(guest, "UseTool", TrialHatch(tool=says("x" * (64 * MIB))), tool="tool")
        with pytest.raises(LimitExceededError, match=rf"a tool's text message of 94\d+ bytes {LIMIT}"):
            await messages(guest, "UseTool", TrialHatch(tool=says("x", "y" * (9 * MIB))), tool="tool")
        with pytest.raises(LimitExceededError, match=rf"a model's chunk of 94\d+ bytes {LIMIT}"):
            await messages(guest, "Ask", TrialHatch(Chunks(1, "x" * (9 * MIB))))
        assert await texts(guest, "UseTool", TrialHatch(tool=says("fine", "said")), tool="tool") == ["said"]
        assert guest.pid == pid


@pytest.mark.parametrize(("kind", "what"), [("prompt", "model"), ("arguments", "tool")])
async def test_a_call_over_the_limit_is_refused_before_it_is_sent(launcher: Launcher, kind: str, what: str) -> None:
    hatch = TrialHatch(Chunks(1), echo=says("x"))
    async with started(launcher, trial_candidate()) as guest:
        with pytest.raises(LimitExceededError, match=rf"a {what} call of 209\d+ bytes {LIMIT}"):
            await messages(guest, "Large", hatch, kind=kind, size=20 * MIB)
        assert hatch.requests == []
        assert len(await messages(guest, "Kinds")) == 12


async def test_a_start_over_the_limit_is_refused_before_it_is_sent(launcher: Launcher) -> None:
    async with started(launcher, trial_candidate()) as guest:
        run = guest.run(Invocation("Large", {"kind": "question", "query": "q" * (9 * MIB)}), TrialHatch())
        with pytest.raises(LimitExceededError, match=rf"the run's start of 94\d+ bytes {LIMIT}"):
            await anext(run)
        assert await texts(guest, "Large", kind="question", size=0, query="q" * (7 * MIB)) == [str(7 * MIB)]
