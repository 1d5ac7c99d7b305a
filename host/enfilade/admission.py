"""From candidate to admitted: a plugin is opened, and each strategy checked against the contract."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from enfilade.candidate import Candidate
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import NotAdmittedError
from enfilade_sdk.hatch import Hatch
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import ToolInvokeMessage


class Runner(Protocol):
    """What runs a plugin's strategies: a guest process, a remote one, this process."""

    async def describe(self) -> list[StrategyDescription]:
        """What the plugin offers; starts it when it is not running."""
        ...

    def run(self, invocation: Invocation, hatch: Hatch) -> AsyncGenerator[ToolInvokeMessage, None]:
        """Runs one of its strategies."""
        ...

    async def stop(self) -> None:
        """Ends it."""
        ...


@dataclass(frozen=True, slots=True)
class Admitted:
    """A strategy that was opened and fits the contract."""

    description: StrategyDescription
    candidate: Candidate
    runner: Runner

    @property
    def name(self) -> str:
        """The strategy's name."""
        return self.description.name


async def admit(candidate: Candidate, runner: Runner, name: str) -> Admitted:
    """Opens a plugin and admits one of its strategies.

    Raises:
        NotAdmittedError: It does not fit the contract; the text has every fault. Or the plugin does not offer it.
        EnfiladeError: The plugin could not be opened.
    """
    descriptions = await runner.describe()
    offered = {description.name: description for description in descriptions}
    if name not in offered:
        there = ", ".join(offered) or "nothing"
        raise NotAdmittedError(
            f"plugin {candidate.plugin!r} was expected to offer the strategy {name!r} and offers {there}; "
            "mend its entry point or its name"
        )
    offered[name].check_admitted()
    return Admitted(offered[name], candidate, runner)
