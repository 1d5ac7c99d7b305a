"""What a strategy is told at the start of a run: its parameters, checked, and all else as one value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from enfilade.agent import AgentConfig
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.invocation import File, InvokeCredentials
from enfilade_sdk.parameters import check_params
from enfilade_sdk.prompts import PromptMessage, PromptTool


@dataclass(frozen=True, slots=True)
class Question:
    """One question and what comes with it.

    Attributes:
        text: What is asked.
        user_id: Who asks.
        conversation_id: The conversation it belongs to.
        app_id: The application it comes from.
        message_id: The application's id of this message.
        history: Earlier turns, oldest first.
        files: Files that come with it.
        credentials: References to credentials, for strategies that pass them on.
        seconds: The run's time; None leaves it to the host's limits.
        traceparent: The caller's span, in the form of W3C Trace Context; empty where there is none, or where it is
            the current span of OpenTelemetry. What is not valid is passed over.
        tracestate: What goes with it.
    """

    text: str
    user_id: str = "user"
    conversation_id: str | None = None
    app_id: str | None = None
    message_id: str | None = None
    history: tuple[PromptMessage, ...] = ()
    files: tuple[File, ...] = ()
    credentials: InvokeCredentials | None = None
    seconds: float | None = None
    traceparent: str = ""
    tracestate: str = ""


def params_of(
    description: StrategyDescription, agent: AgentConfig, question: str, model: str, menu: Sequence[PromptTool]
) -> dict[str, Any]:
    """The parameters of a run: the agent's, and those the host knows, for a strategy that declares them.

    `query` is always given; a strategy that declares no parameters finds it too.

    Args:
        description: What the strategy declares.
        agent: The agent's own parameters, prompt and rounds.
        question: The text of the question.
        model: The name of the run's model.
        menu: The run's tools.

    Raises:
        InvalidParamsError: All that does not fit, in one text.
    """
    declared = {parameter.name: parameter for parameter in description.parameters}
    given: dict[str, Any] = dict(agent.parameters)
    _put(given, "query", question, present=True)
    _put(given, "instruction", agent.instruction(), present=bool(agent.prompt))
    _put(given, "max_iteration", agent.max_iteration, present=agent.max_iteration is not None)
    offered = {"model": {"model": model}, "tools": [{"name": tool.name} for tool in menu]}
    kinds = {"model": "model-selector", "tools": "array[tools]"}
    for name, value in offered.items():
        if name in declared and name not in given and str(declared[name].type) in (kinds[name], name):
            given[name] = value
    extra = {} if "query" in declared else {"query": given.pop("query")}
    return check_params(description.parameters, given) | extra


def _put(given: dict[str, Any], name: str, value: Any, *, present: bool) -> None:
    if not present:
        return
    if name in given and given[name] != value:
        raise InvalidParamsError(f"{name} was given twice: once of its own and once among the parameters; remove one")
    given[name] = value
