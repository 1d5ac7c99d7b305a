"""Several calls in one: a tool that some models of OpenAI believe they have."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from enfilade.models.arguments import Arguments, read_arguments
from enfilade.models.draft import settled_name

_NAMES = frozenset({"multi_tool_use.parallel", "multi_tool_use_parallel", "multi_tool_use", "parallel"})
_USES = "tool_uses"
_NAME_KEYS = ("recipient_name", "name", "tool", "function")
_ARGUMENT_KEYS = ("parameters", "arguments", "args", "input")


class Use(NamedTuple):
    """One of the calls."""

    name: str
    read: Arguments


def uses_in(name: str, parsed: Mapping[str, Any] | None, known: Collection[str]) -> Sequence[Use]:
    """The calls in one of `multi_tool_use.parallel`; empty when it is something else.

    Args:
        name: The name of the call.
        parsed: Its arguments.
        known: Names of the tools there are.
    """
    uses = parsed.get(_USES) if parsed is not None and name in _NAMES and name not in known else None
    if not isinstance(uses, list) or not all(isinstance(use, dict) for use in uses):
        return ()
    return [Use(settled_name([_first(use, _NAME_KEYS, "")], known), _arguments(use)) for use in uses]


def _arguments(use: Mapping[str, Any]) -> Arguments:
    return read_arguments([_first(use, _ARGUMENT_KEYS, None)])


def _first(use: Mapping[str, Any], keys: Sequence[str], otherwise: Any) -> Any:
    found = next((use[key] for key in keys if use.get(key) is not None), otherwise)
    return found if not isinstance(otherwise, str) or isinstance(found, str) else otherwise
