"""How a failure is told."""

from dataclasses import replace

from pydantic_core import PydanticSerializationError, to_jsonable_python

from enfilade.cli.exit_code import FAILED, USAGE
from enfilade.cli.json_line import json_line, json_text
from enfilade.cli.screen import RED, Screen
from enfilade.cli.usage import CommandLineError
from enfilade.outcome import Outcome, Status
from enfilade_sdk.errors import EnfiladeError


def failure_text(error: EnfiladeError) -> str:
    """`error: ...` with the code at the end."""
    lines = error.message.rstrip()
    code = f"(code: {error.code.value})"
    return f"error: {lines}\n{code}" if "\n" in lines else f"error: {lines} {code}"


def exit_code_of(error: EnfiladeError) -> int:
    """2 for a fault of the command line, else 1."""
    return USAGE if isinstance(error, CommandLineError) else FAILED


def failure_json(error: EnfiladeError) -> str:
    """Lines of JSON about a failure; `details.reason` is for programs."""
    form = {"code": error.code.value, "message": error.message, "details": error.details}
    return json_text({"error": form}, indent=2) + "\n"


def tell(screen: Screen, error: EnfiladeError, *, as_json: bool = False) -> int:
    """Writes a failure to standard error, and as JSON to standard output where that is asked for; gives the code."""
    screen.error(failure_text(error), RED)
    if as_json:
        screen.say(failure_json(error))
    return exit_code_of(error)


def show(error: EnfiladeError, as_json: bool) -> int:
    """Writes the failure of a command that has no screen yet; gives the exit code."""
    return tell(Screen.claim(), error, as_json=as_json)


def failed(error: EnfiladeError) -> Outcome:
    """The outcome of a run that did not come about."""
    return Outcome(status=Status.FAILED, error=error)


def outcome_line(outcome: Outcome) -> bytes:
    """The last line of `run --json`."""
    try:
        form = outcome.to_json()
    except PydanticSerializationError:  # a strategy in this process put objects among the data of its logs
        form = replace(outcome, logs=[]).to_json()
        form["logs"] = to_jsonable_python(outcome.logs, serialize_unknown=True, inf_nan_mode="null")
    return json_line({"type": "outcome", "outcome": form})


def print_outcome(message: str) -> int:
    """Writes the outcome of a run that the command line kept from coming about."""
    error = CommandLineError(message)
    Screen.claim().result(outcome_line(failed(error)))
    return USAGE


def print_usage(message: str) -> int:
    """Writes as JSON what is wrong with a command line; people were told already."""
    Screen.claim().say(failure_json(CommandLineError(message)))
    return USAGE
