"""Parameters of a strategy given as `-p KEY=VALUE`."""

from collections.abc import Mapping, Sequence
from typing import Any

from enfilade.cli.usage import CommandLineError
from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.parameters import AgentStrategyParameter, ParameterFault, check_params, params_from_text
from enfilade_sdk.parameters.fault import details, listed


def read_params(declared: Sequence[AgentStrategyParameter], pairs: Sequence[str]) -> dict[str, Any]:
    """Reads the pairs and checks each value.

    Raises:
        CommandLineError: Something does not fit; the one error has all faults.
    """
    faults: list[ParameterFault] = []
    try:
        return _checked(declared, params_from_text(declared, pairs))
    except InvalidParamsError as error:
        faults += _faults(error)
    for pair in pairs:  # what could be read may break a rule beside
        try:
            _checked(declared, params_from_text(declared, [pair]))
        except InvalidParamsError as error:
            faults += [fault for fault in _faults(error) if fault not in faults]
    raise CommandLineError(listed("-p: the parameters do not fit the strategy", faults), details=details(faults))


def check_max_iteration(declared: Sequence[AgentStrategyParameter], number: int, params: Mapping[str, Any]) -> None:
    """Checks what was given as `--max-iteration N`, beside parameters that were given with `-p`.

    Raises:
        CommandLineError: The strategy takes no such number, or none at all; or it was given twice.
    """
    if "max_iteration" in params:
        raise CommandLineError("max_iteration was given twice, with --max-iteration and with -p; leave one out")
    try:
        _checked(declared, {"max_iteration": number})
    except InvalidParamsError as error:
        faults = _faults(error)
        raise CommandLineError(
            listed("--max-iteration does not fit the strategy", faults), details=details(faults)
        ) from None


def _checked(declared: Sequence[AgentStrategyParameter], params: dict[str, Any]) -> dict[str, Any]:
    """The params, when each of them keeps its rules; whether others are missing is for the run to say."""
    return check_params([parameter for parameter in declared if parameter.name in params], params)


def _faults(error: InvalidParamsError) -> list[ParameterFault]:
    return [ParameterFault(**fault) for fault in error.details["faults"]]
