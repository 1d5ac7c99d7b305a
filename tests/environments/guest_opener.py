"""Opening a plugin with a real guest."""

from collections.abc import Sequence

from enfilade.candidate import Candidate
from enfilade.isolation.launcher import Launcher
from enfilade_sdk.contract import StrategyDescription


async def guest_opener(candidate: Candidate) -> Sequence[StrategyDescription]:
    """Starts a guest, as a host does."""
    launcher = Launcher()
    guest = launcher.guest(candidate)
    try:
        return await guest.describe()
    finally:
        await guest.stop()
        await launcher.close()
