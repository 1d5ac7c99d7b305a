"""Write agent strategies for Enfilade.

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from enfilade_sdk.contract import AgentStrategyResolver as AgentStrategyResolver
    from enfilade_sdk.contract import ResolvedAgentStrategy as ResolvedAgentStrategy
    from enfilade_sdk.errors import EnfiladeError as EnfiladeError
    from enfilade_sdk.errors import ErrorCode as ErrorCode
    from enfilade_sdk.messages import ToolInvokeMessage as ToolInvokeMessage
    from enfilade_sdk.parameters import AgentStrategyParameter as AgentStrategyParameter
    from enfilade_sdk.session import Session as Session
    from enfilade_sdk.strategy import AgentStrategy as AgentStrategy

_ROOMS = {
    "AgentStrategy": "strategy",
    "AgentStrategyParameter": "parameters",
    "AgentStrategyResolver": "contract",
    "EnfiladeError": "errors",
    "ErrorCode": "errors",
    "ResolvedAgentStrategy": "contract",
    "Session": "session",
    "ToolInvokeMessage": "messages",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_ROOMS)
