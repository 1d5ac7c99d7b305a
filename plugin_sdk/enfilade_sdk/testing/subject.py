"""A strategy under examination."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from enfilade_sdk.contract import opened
from enfilade_sdk.execution import execute
from enfilade_sdk.parameters import parameters_of
from enfilade_sdk.prompts import ModelRequest
from enfilade_sdk.testing.bounded import run_bounded
from enfilade_sdk.testing.obliging import Reply, obliging
from enfilade_sdk.testing.outcome import StrategyRun
from enfilade_sdk.testing.run import GRACE, Setup, StrategyHangsError, run_strategy
from enfilade_sdk.testing.sample import sample_params
from enfilade_sdk.testing.scripted_model import ScriptedModel
from enfilade_sdk.testing.scripted_tools import ScriptedTool, ScriptedTools
from enfilade_sdk.testing.turn import Line, Turn

PROBE = "probe"
"""The tool that examined strategies are given."""

PROBED = "probe-"
"""What everything that the tool says begins with."""

_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_ARGUMENTS = {"text": "a look"}


class ConformanceError(AssertionError):
    """A strategy does not do what hosts rely on; the text says what was expected, what came, and what to do."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A strategy, and what its runs are given.

    Attributes:
        strategy: The strategy, or its class.
        params: Params that its runs need; required ones that are missing get sample values.
        reply: What the model replies; None calls the tool once and then answers.
        query: The question.
        seconds: How long a run may take.
        grace: How long a run may take to stop when it is told to.
    """

    strategy: Any
    params: Mapping[str, Any] = field(default_factory=dict)
    reply: Reply | None = None
    query: str = "What does the probe say?"
    seconds: float = 5.0
    grace: float = GRACE

    def opened(self) -> Any:
        """The strategy, made from its class where need be.

        Raises:
            ConformanceError: It cannot be made.
        """
        try:
            return opened(self.strategy, getattr(self.strategy, "__name__", type(self.strategy).__name__))
        except Exception as error:
            raise ConformanceError(str(error)) from error

    def marked(self, mark: str) -> "Subject":
        """The same subject with a mark in its question and in all that its model says."""
        reply = self.reply or obliging(f"It is well, {mark}.", PROBE, {"text": mark}, PROBED)
        return replace(self, query=f"What does the probe say of {mark}?", reply=reply)

    def replies(self, request: ModelRequest) -> Line:
        """What the model replies to a request unless a check is about something else."""
        return (self.reply or obliging("It is well.", PROBE, _ARGUMENTS, PROBED))(request)

    def setup(self, *, reply: Reply | None = None, does: Any = "probe-result", wired: bool = False) -> Setup:
        """A run's set-up: a model that replies so, and a tool that does that (no tool when that is None)."""
        tools = {} if does is None else {PROBE: ScriptedTool(does, "Looks and says what it sees.", _SCHEMA)}
        declared = parameters_of(self.opened().get_parameters())
        params = sample_params(declared, {"query": self.query, **self.params})
        params.pop("query", None)
        return Setup(
            query=str(self.params.get("query", self.query)),
            model=ScriptedModel(reply or self.replies, repeat_last=True),
            tools=ScriptedTools(tools),
            params=params,
            seconds=self.seconds,
            grace=self.grace,
            wired=wired,
        )

    def run(self, **setup: Any) -> StrategyRun:
        """One run, of a strategy newly made. Takes what `setup` takes."""
        return run_setup(self.opened(), self.setup(**setup))

    def succeed(self, **setup: Any) -> StrategyRun:
        """One run that has to succeed. Takes what `setup` takes.

        Raises:
            ConformanceError: It failed.
        """
        run = self.run(**setup)
        if run.error is not None:
            raise ConformanceError(f"expected a run that succeeds, but it failed: {told(run)}")
        return run


def run_setup(strategy: Any, setup: Setup) -> StrategyRun:
    """`run_strategy` with a set-up that is already made."""
    members = {name: getattr(setup, name) for name in Setup.__dataclass_fields__}
    return run_strategy(strategy, members.pop("query"), **members)


def told(run: StrategyRun) -> str:
    """Why a run failed, with the traceback that goes to the host's log."""
    assert run.error is not None, "only failed runs are told of"
    traceback = run.error.details.get("traceback", "")
    return f"{run.error.code.value}: {run.error.message}" + (f"\n{traceback}" if traceback else "")


def cancel_in_call(strategy: Any, setup: Setup, reached: "Reached") -> bool:
    """Cancels a run when it has reached the call that hangs; tells whether it did.

    Raises:
        StrategyHangsError: It did not stop.
    """

    async def cancel() -> bool:
        reached.here = asyncio.Event()
        reader = asyncio.ensure_future(_drain(strategy, setup))
        arrival = asyncio.ensure_future(reached.here.wait())
        await asyncio.wait({reader, arrival}, timeout=setup.seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (reader, arrival):
            task.cancel()
        await asyncio.gather(reader, arrival, return_exceptions=True)
        return reached.here.is_set()

    try:
        return run_bounded(cancel, setup.seconds + setup.grace)
    except TimeoutError:
        raise StrategyHangsError(
            f"expected a run that stops when it was cancelled while it waited for {reached.what}, but it went on for "
            f"more than {setup.grace:g} s; let RunCancelled, CancelledError and GeneratorExit pass"
        ) from None


async def _drain(strategy: Any, setup: Setup) -> None:
    async with aclosing(execute(strategy, setup.invocation(strategy), setup.hatch())) as messages:
        async for _ in messages:
            pass


class Reached:
    """Knows when a run waits in a call that hangs.

    Attributes:
        what: The call, in words.
        here: Set when it waits.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.here = asyncio.Event()

    def reply(self, _request: ModelRequest) -> Line:
        """A reply that begins and never ends."""
        self.here.set()
        return Turn(text="One ", hangs=True)

    async def tool(self, text: str) -> str:
        """A tool that never ends."""
        self.here.set()
        await asyncio.Event().wait()
        return text
