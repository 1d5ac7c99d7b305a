"""One question put to an agent, shown while it is answered."""

import asyncio
from dataclasses import dataclass
from typing import Any

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.cli.parameters import check_max_iteration, read_params
from enfilade.cli.screen import OutputError
from enfilade.cli.setup import Setup
from enfilade.cli.sink import Sink
from enfilade.host import Host
from enfilade.outcome import Outcome
from enfilade_sdk.errors import EnfiladeError, InternalError


@dataclass(frozen=True, slots=True)
class ReadyAgent:
    """An agent whose strategy is open.

    Attributes:
        config: Its set-up, with the parameters of the command line.
        strategy: Its strategy's name.
        model: Its model's name.
        last_round: The number of the round in which no tool may be called; None if the strategy does not say.
    """

    config: AgentConfig
    strategy: str
    model: str
    last_round: int | None


async def ready_agent(host: Host, setup: Setup) -> ReadyAgent:
    """Opens the agent's strategy and reads the parameters it declares.

    Raises:
        EnfiladeError: The strategy or the model cannot be had.
        CommandLineError: A parameter does not fit.
    """
    admitted = await host.prepare(setup.agent)
    declared = admitted.description.parameters
    given = read_params(declared, setup.params)
    if setup.max_iteration is not None:
        check_max_iteration(declared, setup.max_iteration, given)
    params = setup.agent.parameters | given
    defaults = {parameter.name: parameter.default for parameter in declared}
    agent = setup.agent.model_copy(update={"parameters": params})
    model = agent.model or setup.config.default_model
    return ReadyAgent(agent, admitted.name, model, _last_round(agent, defaults))


async def answered(host: Host, agent: ReadyAgent, question: Question, sink: Sink) -> Outcome:
    """Runs the agent and shows the run; a failure is in the outcome, which has been shown too.

    Raises:
        ReaderGoneError: Nobody reads the results any more.
        OutputError: The results cannot be written.
    """
    run = host.run(agent.config, question)
    sink.begin(lambda: run.outcome, tools=bool(agent.config.tools), last_round=agent.last_round)
    try:
        try:
            async for message in run:
                sink.message(message)
        finally:
            await run.aclose()
    except OutputError:
        raise
    except EnfiladeError:
        pass  # the outcome has it
    except asyncio.CancelledError:
        if run.outcome is not None:
            sink.end(run.outcome)
        raise
    if run.outcome is None:
        raise InternalError("the run ended without an outcome")
    sink.end(run.outcome)
    return run.outcome


def _last_round(agent: AgentConfig, defaults: dict[str, Any]) -> int | None:
    limit = agent.max_iteration
    if limit is None:
        limit = agent.parameters.get("max_iteration", defaults.get("max_iteration"))
    return limit + 1 if isinstance(limit, int) and not isinstance(limit, bool) else None
