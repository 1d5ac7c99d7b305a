"""One run of a strategy against scripts."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from enfilade_sdk.contract import opened
from enfilade_sdk.errors import DeadlineExceededError, EnfiladeError
from enfilade_sdk.execution import execute
from enfilade_sdk.invocation import File, Invocation, InvokeCredentials
from enfilade_sdk.parameters import AgentStrategyParameter, ParameterType, check_params, parameters_of
from enfilade_sdk.prompts import PromptMessage, prompts_of
from enfilade_sdk.testing.bounded import run_bounded
from enfilade_sdk.testing.outcome import StrategyRun
from enfilade_sdk.testing.scripted_hatch import ScriptedHatch
from enfilade_sdk.testing.scripted_model import ScriptedModel
from enfilade_sdk.testing.scripted_tools import ScriptedTools
from enfilade_sdk.testing.wired import execute_wired

SECONDS = 10.0
"""How long a run may take unless told otherwise."""

GRACE = 5.0
"""How long a run that was told to stop may take to do so."""


class ScriptError(AssertionError):
    """The script does not fit the run: the model was asked more often than there are turns."""


class StrategyHangsError(AssertionError):
    """The strategy did not stop when it was told to."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What one run is given, beside the strategy.

    Attributes:
        query: The question, which a strategy finds in `params["query"]` whether it declares that or not.
        model: The run's model.
        tools: The run's tools.
        params: The parameters, beside the query.
        history: Earlier turns, as prompt messages or dicts of the OpenAI chat form.
        files: Files that come with the question.
        models: Further models the run is granted, by name.
        storage: What is stored before; holds afterwards what the run stored.
        user_id: Who asks.
        conversation_id: In which conversation.
        credentials: References to credentials.
        seconds: How long it may take.
        grace: How long it may take to stop when its time is up.
        wired: Whether all values cross the wire's form, as they do for a strategy in a process of its own.
    """

    query: str = ""
    model: ScriptedModel = field(default_factory=ScriptedModel)
    tools: ScriptedTools = field(default_factory=ScriptedTools)
    params: Mapping[str, Any] = field(default_factory=dict)
    history: Sequence[PromptMessage | Mapping[str, Any]] = ()
    files: Sequence[File] = ()
    models: Mapping[str, ScriptedModel] = field(default_factory=dict)
    storage: dict[str, Any] = field(default_factory=dict)
    user_id: str = "user"
    conversation_id: str | None = None
    credentials: InvokeCredentials | None = None
    seconds: float = SECONDS
    grace: float = GRACE
    wired: bool = False

    def invocation(self, strategy: Any) -> Invocation:
        """The run as a value, its parameters made and checked as the host does it.

        A strategy that declares `model` (a model-selector) or `tools` finds the run's own there, unless others are
        given.

        Raises:
            EnfiladeError: The declared parameters, the params or the history are not valid.
        """
        declared = {parameter.name: parameter for parameter in parameters_of(strategy.get_parameters())}
        given = {**self._offered(declared), **self.params}
        extra = {} if "query" in declared else {"query": given.pop("query")}
        return Invocation(
            strategy=str(getattr(strategy, "name", None) or type(strategy).__name__),
            params=check_params(list(declared.values()), given) | extra,
            run_id=uuid4().hex,
            user_id=self.user_id,
            conversation_id=self.conversation_id,
            credentials=self.credentials,
            deadline=self.seconds,
            model=self.model.info,
            tools=self.tools.menu(),
            history=tuple(prompts_of(self.history)),
            files=tuple(self.files),
        )

    def _offered(self, declared: Mapping[str, AgentStrategyParameter]) -> dict[str, Any]:
        offered: dict[str, Any] = {"query": self.query}
        kinds = {name: parameter.type for name, parameter in declared.items()}
        if kinds.get("model") is ParameterType.MODEL_SELECTOR:
            offered["model"] = {"model": self.model.info.name}
        if kinds.get("tools") is ParameterType.TOOLS:
            offered["tools"] = [{"name": tool.name} for tool in self.tools.menu()]
        return offered

    def hatch(self) -> ScriptedHatch:
        """The hatch that answers the run's calls."""
        return ScriptedHatch(self.model, self.tools, models=self.models, storage=self.storage)


def run_strategy(strategy: Any, query: str = "", **setup: Any) -> StrategyRun:
    """Runs a strategy to its end and gives all there is to look at.

    Works anywhere, also where an event loop is running: the run has a loop of its own.

    Args:
        strategy: The strategy, or its class.
        query: The question.
        **setup: The other members of `Setup`: `model` (a `ScriptedModel`, or a list of turns), `tools` (a
            `ScriptedTools`, or a dict of tools), `params`, `history`, `files`, `models`, `storage`, `seconds`,
            `grace`, `wired` ...

    Returns:
        The run. How it failed, if it did, is in its `error`; `check()` raises that.

    Raises:
        ScriptError: The model was asked more often than the script has turns.
        StrategyHangsError: The strategy went on after its time was up and it was told to stop.
    """
    made = setup_of(query, **setup)
    try:
        return run_bounded(lambda: _run(strategy, made), made.seconds + made.grace)
    except TimeoutError:
        raise StrategyHangsError(
            f"the strategy had {made.seconds:g} s, was cancelled, and did not stop within {made.grace:g} s; "
            "let RunCancelled, CancelledError and GeneratorExit pass, and yield now and then in long computing"
        ) from None


async def run_strategy_async(strategy: Any, query: str = "", **setup: Any) -> StrategyRun:
    """`run_strategy` on the loop that is running, for tools that belong to it."""
    return await _run(strategy, setup_of(query, **setup))


def setup_of(query: str, **setup: Any) -> Setup:
    """A set-up from arguments, short forms of model and tools included."""
    model, tools = setup.pop("model", None), setup.pop("tools", None)
    if not isinstance(model, ScriptedModel):
        model = ScriptedModel(*(model or ()))
    if not isinstance(tools, ScriptedTools):
        tools = ScriptedTools(tools or {})
    return Setup(query=query, model=model, tools=tools, **setup)


async def _run(strategy: Any, setup: Setup) -> StrategyRun:
    hatch = setup.hatch()
    run = StrategyRun(requests=setup.model.requests, calls=setup.tools.calls, refused=hatch.refused)
    try:
        instance = opened(strategy, getattr(strategy, "__name__", type(strategy).__name__))
        await _collect(instance, setup, hatch, run)
    except EnfiladeError as error:
        run.error = error
    if overrun := sum(model.overrun for model in (setup.model, *setup.models.values())):
        raise ScriptError(
            f"the model was asked {overrun} times more than its script has turns; add turns or set repeat_last=True"
        )
    return run


async def _collect(strategy: Any, setup: Setup, hatch: ScriptedHatch, run: StrategyRun) -> None:
    invocation = setup.invocation(strategy)
    start = execute_wired if setup.wired else execute
    try:
        async with asyncio.timeout(setup.seconds), aclosing(start(strategy, invocation, hatch)) as messages:
            async for message in messages:
                run.messages.append(message)
    except TimeoutError:
        raise DeadlineExceededError(f"the run was not over after {setup.seconds:g} s") from None
