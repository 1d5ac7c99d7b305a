"""Host for agent strategies.

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from enfilade.agent import AgentConfig as AgentConfig
    from enfilade.briefing import Question as Question
    from enfilade.config import Config as Config
    from enfilade.host import Host as Host
    from enfilade.outcome import Outcome as Outcome
    from enfilade.run import Run as Run

_ROOMS = {
    "AgentConfig": "agent",
    "Config": "config",
    "Host": "host",
    "Outcome": "outcome",
    "Question": "briefing",
    "Run": "run",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_ROOMS)
