"""How a failure is told."""

from dataclasses import replace

from pydantic_core import PydanticSerializationError, to_jsonable_python

from enfilade.cli.exit_code import FAILED, USAGE
from enfilade.cli.json_line import json_line
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


def show(error: EnfiladeError) -> int:
    """Writes a failure to standard error; gives the exit code."""
    Screen.claim().error(failure_text(error), RED)
    return exit_code_of(error)


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
