"""Checks that a strategy does what hosts rely on.

All at once:

    conformance.check(MyStrategy)

One test each, with pytest:

    @pytest.mark.parametrize("examine", conformance.CHECKS)
    def test_my_strategy_conforms(examine):
        examine(MyStrategy)

Both take the members of `Subject` as keywords: `params` for a strategy that needs particular ones, `reply` for one that
needs particular replies of the model, `seconds`.
"""

import contextlib
import io
from collections.abc import Callable
from typing import Any

from enfilade_sdk import codec
from enfilade_sdk.contract import describe
from enfilade_sdk.errors import EnfiladeError, ErrorCode, ModelFailedError
from enfilade_sdk.json_text import json_text
from enfilade_sdk.messages import LogPayload, LogStatus
from enfilade_sdk.parameters import check_params, parameters_of, parameters_schema
from enfilade_sdk.prompts import ModelRequest, ToolMessage
from enfilade_sdk.testing.interleaved import interleaved
from enfilade_sdk.testing.outcome import StrategyRun
from enfilade_sdk.testing.sample import sample_params
from enfilade_sdk.testing.stopping import went_on
from enfilade_sdk.testing.subject import (
    ConformanceError,
    Reached,
    Subject,
    cancel_in_call,
    told,
)
from enfilade_sdk.testing.turn import CallOf, Line, Turn

_MOST_STOPS = 25
"""How many of a run's yields are tried as the place to stop at."""


def check(strategy: Any, **subject: Any) -> None:
    """Makes all checks.

    Args:
        strategy: The strategy, or its class.
        **subject: Members of `Subject`.

    Raises:
        ConformanceError: At least one failed; the text has each with its reason. A strategy that is not admitted is
            not examined further.
    """
    is_admitted(strategy, **subject)
    faults = []
    for each in CHECKS:
        try:
            each(strategy, **subject)
        except (AssertionError, EnfiladeError) as error:
            faults.append(f"- {each.__name__}: {error}")
    if faults:
        name = getattr(strategy, "__name__", type(strategy).__name__)
        raise ConformanceError("\n".join([f"{name} fails {len(faults)} of {len(CHECKS)} checks:", *faults]))


def is_admitted(strategy: Any, **subject: Any) -> None:
    """It fits the contract: the methods, their signatures, the optional members, the declared parameters."""
    description = describe(Subject(strategy, **subject).opened())
    if description.faults:
        raise ConformanceError("\n".join(["it does not fit the contract:", *map(str, description.faults)]))


def declares_the_same_parameters_each_time(strategy: Any, **subject: Any) -> None:
    """Its parameters are valid, stay the same, and params can be found that fit them."""
    examined = Subject(strategy, **subject)
    instance = examined.opened()
    first, second = (parameters_of(instance.get_parameters()) for _ in range(2))
    if first != second:
        raise ConformanceError("get_parameters() gave different parameters when it was called again")
    try:
        check_params(first, sample_params(first, dict(examined.params)))
    except EnfiladeError as error:
        raise ConformanceError(f"the params given to this check do not fit: {error}") from None
    json_text(parameters_schema(first))


def describes_itself_over_the_wire(strategy: Any, **subject: Any) -> None:
    """What it says of itself reaches a host unchanged when it runs in a process of its own."""
    description = describe(Subject(strategy, **subject).opened())
    crossed = codec.description_from_wire(codec.description_to_wire(description))
    if crossed != description:
        raise ConformanceError(
            f"expected a description of JSON values; over the wire {description!r} became {crossed!r}"
        )


def yields_only_valid_messages(strategy: Any, **subject: Any) -> None:
    """A plain run succeeds and yields nothing but messages."""
    Subject(strategy, **subject).succeed()


def works_without_tools(strategy: Any, **subject: Any) -> None:
    """A run that was given no tools succeeds, or is refused with a reason."""
    _check_no_crash(Subject(strategy, **subject).run(does=None), "a run without tools")


def works_over_the_wire(strategy: Any, **subject: Any) -> None:
    """A run succeeds when all values cross the wire, and its messages and requests reach the host unchanged."""
    examined = Subject(strategy, **subject)
    examined.succeed(wired=True)
    run = examined.succeed()
    for message in run.messages:
        crossed = codec.message_from_wire(codec.message_to_wire(message))
        if (crossed.type, crossed.message, crossed.meta or {}) != (message.type, message.message, message.meta or {}):
            raise ConformanceError(f"expected messages of JSON values; over the wire {message!r} became {crossed!r}")
    for request in run.requests:
        asked = codec.model_request_from_wire(codec.model_request_to_wire(1, request, 0))
        if asked != request:
            raise ConformanceError(f"expected requests of JSON values; over the wire {request!r} became {asked!r}")


def ends_each_log_once(strategy: Any, **subject: Any) -> None:
    """Each log it opens is closed, once, and hangs below one that was written before it."""
    run = Subject(strategy, **subject).succeed()
    states: dict[str, LogPayload] = {}
    for log in (message.message for message in run.messages if isinstance(message.message, LogPayload)):
        if log.parent_id is not None and log.parent_id not in states:
            raise ConformanceError(f"the log {log.label!r} has a parent that was never written: {log.parent_id!r}")
        if log.id in states and states[log.id].status is not LogStatus.START:
            raise ConformanceError(f"the log {log.label!r} was written again after it had ended")
        states[log.id] = log
    left_open = [log.label for log in states.values() if log.status is LogStatus.START]
    if left_open:
        raise ConformanceError(f"these logs were opened and never finished: {', '.join(map(repr, left_open))}")


def calls_only_what_it_was_granted(strategy: Any, **subject: Any) -> None:
    """It calls no model and no tool that the run was not given."""
    run = Subject(strategy, **subject).run()
    if run.refused:
        raise ConformanceError(f"it called what the run was not given: {', '.join(run.refused)}")


def survives_a_failing_tool(strategy: Any, **subject: Any) -> None:
    """A tool that raises is a result for the model, not the end of the run."""
    run = Subject(strategy, **subject).run(does=RuntimeError("probe-failure"))
    _check_survived(run, "a tool failed")


def survives_an_unknown_tool(strategy: Any, **subject: Any) -> None:
    """A model that asks for a tool that is not there is told so; the run goes on."""
    examined = Subject(strategy, **subject)

    def reply(request: ModelRequest) -> Line:
        if request.tools and not any(isinstance(message, ToolMessage) for message in request.messages):
            return CallOf("no_such_tool", {"text": "x"})
        return examined.replies(request)

    _check_survived(examined.run(reply=reply), "the model asked for a tool that is not there")


def survives_a_failing_model(strategy: Any, **subject: Any) -> None:
    """A model's failure ends the run with the model's error, or is dealt with; it is no crash of the strategy."""
    failure = ModelFailedError("the provider is down", details={"status": 503})
    for turn in (Turn(error=failure), Turn(text="It is", error=failure)):
        run = Subject(strategy, **subject).run(reply=_always(turn))
        _check_no_crash(run, "the model's failure")


def stops_when_cancelled(strategy: Any, **subject: Any) -> None:
    """A run that is cancelled while it waits for the model or for a tool stops at once."""
    examined = Subject(strategy, **subject)
    model, tool = Reached("the model"), Reached("a tool")
    cancel_in_call(examined.opened(), examined.setup(reply=model.reply), model)
    cancel_in_call(examined.opened(), examined.setup(does=tool.tool), tool)


def stops_at_every_yield(strategy: Any, **subject: Any) -> None:
    """A run that is closed or cancelled stops at the yield it has come to; it swallows nothing that tells it to."""
    examined = Subject(strategy, **subject)
    for count in range(1, _MOST_STOPS + 1):
        for closing in (True, False):
            taken, instead = went_on(examined.opened(), examined.setup(), count, closing=closing)
            if instead is not None:
                raise ConformanceError(
                    f"expected a run that stops when it is told to after message {count}, but: {instead}; do not yield "
                    "in 'finally', nor in an 'except' that catches GeneratorExit, RunCancelled or CancelledError"
                )
            if taken < count:
                return


def keeps_runs_apart(strategy: Any, **subject: Any) -> None:
    """Two runs of one instance that take turns know nothing of each other."""
    base = Subject(strategy, **subject)
    instance = base.opened()
    names = ("alpha", "omega")
    runs = interleaved(instance, [base.marked(f"{name}-mark").setup() for name in names])
    for run, own, other in zip(runs, names, reversed(names), strict=True):
        if run.error is not None:
            raise ConformanceError(f"expected two runs at a time to succeed, but one failed: {told(run)}")
        said = repr(run.messages) + repr(run.requests) + repr(run.calls)
        if f"{other}-mark" in said:
            raise ConformanceError(
                f"the run {own!r} has something of the run {other!r}, which took turns with it; "
                "keep what belongs to a run in local variables, not on the strategy or its class"
            )


def prints_nothing(strategy: Any, **subject: Any) -> None:
    """It writes nothing to stdout, which belongs to the process it runs in; logs and messages are for that."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        Subject(strategy, **subject).run()
    if printed.getvalue():
        raise ConformanceError(f"it printed {printed.getvalue()[:200]!r}; use session.log or the logging module")


def _always(turn: Turn) -> Callable[[ModelRequest], Line]:
    return lambda _request: turn


def _check_survived(run: StrategyRun, what: str) -> None:
    if run.error is not None:
        raise ConformanceError(
            f"{what}: expected the run to go on with a result for the model, but it failed: {told(run)}"
        )


def _check_no_crash(run: StrategyRun, what: str) -> None:
    if run.error is not None and run.error.code in {ErrorCode.INTERNAL, ErrorCode.DEADLINE}:
        raise ConformanceError(f"expected {what} to be dealt with, or to end the run with a clear error: {told(run)}")


CHECKS: tuple[Callable[..., None], ...] = (
    is_admitted,
    declares_the_same_parameters_each_time,
    describes_itself_over_the_wire,
    yields_only_valid_messages,
    works_without_tools,
    works_over_the_wire,
    ends_each_log_once,
    calls_only_what_it_was_granted,
    survives_a_failing_tool,
    survives_an_unknown_tool,
    survives_a_failing_model,
    stops_when_cancelled,
    stops_at_every_yield,
    keeps_runs_apart,
    prints_nothing,
)
"""Every check, for pytest's `parametrize`; each is named for what it makes sure of."""
