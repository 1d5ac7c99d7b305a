"""The structural contract of a strategy, and the check that admits one."""

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from enfilade_sdk.errors import EnfiladeError, NotAdmittedError
from enfilade_sdk.invocation import InvokeCredentials
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.parameters import AgentStrategyParameter, ParameterDeclarationError, parameters_of

CONTRACT_KEYWORDS = frozenset(
    {"params", "user_id", "conversation_id", "app_id", "message_id", "credentials", "session"}
)
"""Keywords that the host gives to `invoke`; a strategy may declare any of them and needs none."""


@runtime_checkable
class ResolvedAgentStrategy(Protocol):
    """A strategy as callers see it: matching signatures are enough, nothing need be imported.

    `meta_version`, `name`, `label`, `description`, `icon`, `features` and `output_schema` are optional members.
    """

    def get_parameters(self) -> Sequence[AgentStrategyParameter]:
        """The parameters it declares."""
        ...

    def invoke(
        self,
        *,
        params: dict[str, Any],
        user_id: str,
        conversation_id: str | None = None,
        app_id: str | None = None,
        message_id: str | None = None,
        credentials: InvokeCredentials | None = None,
    ) -> Generator[ToolInvokeMessage, None, None]:
        """Runs it and gives its messages.

        Args:
            params: Its parameters; `query` is the question.
            user_id: Who asks.
            conversation_id: The conversation that it belongs to.
            app_id: The application that asks.
            message_id: The caller's own id of the question.
            credentials: References to credentials that the host holds.
        """
        ...


class AgentStrategyResolver(Protocol):
    """Finds a strategy by the names an application uses."""

    def resolve(
        self, *, tenant_id: str, agent_strategy_provider_name: str, agent_strategy_name: str
    ) -> ResolvedAgentStrategy:
        """The strategy of that name.

        Raises:
            NotAdmittedError: There is none; the text lists near matches.
        """
        ...


class Fault(BaseModel):
    """One reason against a strategy: what was expected, what was found, how to mend it."""

    model_config = ConfigDict(frozen=True)

    expected: str
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"expected {self.expected}; found {self.found}; {self.remedy}"


class StrategyDescription(BaseModel):
    """What a strategy says of itself, and what speaks against it."""

    model_config = ConfigDict(extra="ignore")

    name: str
    meta_version: str | None = None
    label: str | dict[str, str] | None = None
    description: str | dict[str, str] | None = None
    icon: str | None = None
    features: list[str] = Field(default_factory=list)
    output_schema: dict[str, Any] | None = None
    parameters: list[AgentStrategyParameter] = Field(default_factory=list)
    faults: list[Fault] = Field(default_factory=list)

    def check_admitted(self) -> None:
        """Refuses the strategy when it has faults.

        Raises:
            NotAdmittedError: With every fault in its text, and in `details["faults"]`.
        """
        if self.faults:
            lines = "".join(f"\n  - {fault}" for fault in self.faults)
            raise NotAdmittedError(
                f"strategy {self.name!r} does not fit the contract:{lines}",
                details={"faults": [fault.model_dump() for fault in self.faults]},
            )


def opened(value: Any, name: str) -> Any:
    """The strategy behind an entry point's value: an object, or a class that takes no arguments.

    Raises:
        NotAdmittedError: The class cannot be instantiated without arguments, or raises.
    """
    if not inspect.isclass(value):
        return value
    try:
        return value()
    except Exception as error:
        raise NotAdmittedError(
            f"strategy {name!r}: expected a class that can be made without arguments; "
            f"{value.__qualname__}() raised {type(error).__name__}: {error}"
        ) from error


def describe(strategy: Any, name: str | None = None) -> StrategyDescription:
    """Checks a strategy against the contract and gathers what it says of itself, all faults at once."""
    if inspect.isroutine(strategy):
        wanted = "a class or an object with the methods get_parameters() and invoke(*, params, ...)"
        faults = [_fault(wanted, "a function", "put it into a class as its invoke")]
        return StrategyDescription(name=name or strategy.__name__, faults=faults)
    parameters, faults = _parameters(strategy)
    faults += _invoke_faults(getattr(strategy, "invoke", None))
    about, about_faults = _about(strategy)
    own_name = name or about.pop("name", None) or type(strategy).__name__
    about.pop("name", None)
    return StrategyDescription(name=own_name, parameters=parameters, faults=faults + about_faults, **about)


def _parameters(strategy: Any) -> tuple[list[AgentStrategyParameter], list[Fault]]:
    method = getattr(strategy, "get_parameters", None)
    if not callable(method):
        return [], [
            _fault("a method get_parameters()", _kind(method), "add one that returns a list, which may be empty")
        ]
    try:
        declared = method()
        if isinstance(declared, Iterable) and not isinstance(declared, str | bytes | Mapping):
            return list(parameters_of(list(declared))), []
        found = f"a {type(declared).__name__}"
        return [], [_fault("get_parameters() to return a list of parameters", found, "return a list or tuple")]
    except ParameterDeclarationError as error:
        faults = error.faults
        return [], [_fault(f"of {_named(f.parameter)}: {f.expected}", f.found, f.remedy) for f in faults]
    except EnfiladeError as error:
        return [], [_fault("get_parameters() to declare valid parameters", error.message, "mend the declaration")]
    except Exception as error:  # noqa: BLE001 - a plugin's code may raise anything
        found = f"it raised {type(error).__name__}: {error}"
        remedy = "give its arguments defaults" if _needs_arguments(method) else "mend it"
        return [], [_fault("get_parameters() to give its list when called without arguments", found, remedy)]


def _needs_arguments(method: Callable[..., Any]) -> bool:
    try:
        inspect.signature(method).bind()
    except (TypeError, ValueError):
        return True
    return False


def _named(parameter: str) -> str:
    """A parameter in a sentence: by its name, or, where it has none, by its place."""
    return parameter if parameter.startswith("parameter ") else f"the parameter {parameter}"


def _invoke_faults(invoke: Any) -> list[Fault]:
    if not callable(invoke):
        return [_fault("a method invoke(*, params, ...)", _kind(invoke), "add one that yields messages")]
    faults = []
    if inspect.iscoroutinefunction(invoke):
        found = "an async function that yields nothing"
        faults.append(_fault("invoke to be a generator or an async generator", found, "yield messages in it"))
    return faults + _signature_faults(invoke)


def _signature_faults(invoke: Callable[..., Any]) -> list[Fault]:
    try:
        parameters = inspect.signature(invoke).parameters.values()
    except (TypeError, ValueError) as error:
        return [_fault("invoke to have a readable signature", str(error), "write it in Python")]
    return [fault for parameter in parameters if (fault := _keyword_fault(parameter)) is not None]


def _keyword_fault(parameter: inspect.Parameter) -> Fault | None:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return None
    known = ", ".join(sorted(CONTRACT_KEYWORDS))
    if parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty:
        found = f"{parameter.name!r}, which is positional only"
        return _fault("invoke to take keywords", found, "remove the '/' from its signature")
    if parameter.default is parameter.empty and parameter.name not in CONTRACT_KEYWORDS:
        found = f"invoke requires the keyword {parameter.name!r}, which the contract does not give"
        return _fault(
            f"invoke to require only keywords of the contract ({known})", found, "give it a default or remove it"
        )
    return None


_ABOUT: dict[str, tuple[type, ...]] = {
    "meta_version": (str,),
    "name": (str,),
    "label": (str, dict),
    "description": (str, dict),
    "icon": (str,),
    "features": (list, tuple, set, frozenset),
    "output_schema": (dict,),
}


def _about(strategy: Any) -> tuple[dict[str, Any], list[Fault]]:
    about: dict[str, Any] = {}
    faults = []
    for member, kinds in _ABOUT.items():
        value = getattr(strategy, member, None)
        if value is None:
            continue
        if not isinstance(value, kinds):
            expected = f"{member} to be {' or '.join(kind.__name__ for kind in kinds[:2])}, or absent"
            faults.append(_fault(expected, f"a {type(value).__name__}", "change or remove it"))
        elif member == "features":
            about[member] = sorted(map(str, cast("Iterable[object]", value)))
        else:
            about[member] = value
    return about, faults


def _kind(value: Any) -> str:
    return "none" if value is None else f"a {type(value).__name__} that cannot be called"


def _fault(expected: str, found: str, remedy: str) -> Fault:
    return Fault(expected=expected, found=found, remedy=remedy)
