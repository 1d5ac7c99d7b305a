from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from enfilade.admission import Runner
from enfilade.inprocess import InProcess
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.process import StopTimes
from enfilade_sdk.serving.handshake import GRPC
from tests.support.leftovers import nothing_left
from tests.support.trial_run import trial_candidate


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=["inprocess", "isolated", "over gRPC"])
async def runner(request: pytest.FixtureRequest) -> AsyncIterator[Runner]:
    """A runner of the strategies on trial: in this process, and in a guest over either transport. One for a module."""
    if request.param == "inprocess":
        yield InProcess(trial_candidate())
        return
    launcher = Launcher(transports=(GRPC,)) if request.param == "over gRPC" else Launcher()
    guest = launcher.guest(trial_candidate())
    yield guest
    await guest.stop()
    await launcher.close()


@pytest_asyncio.fixture(loop_scope="function")
async def launcher() -> AsyncIterator[Launcher]:
    """A launcher that loses no time in stopping; when the test is over, nothing may be left."""
    async with nothing_left():
        launcher = Launcher(StopTimes(shutdown=0.3, stdin=0.3, terminate=0.5))
        yield launcher
        await launcher.close()
