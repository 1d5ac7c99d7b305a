"""From a run that was asked for and an admitted strategy to what starts it: told, granted, surrounded by its layers."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from enfilade.admission import Admitted
from enfilade.agent import AgentConfig
from enfilade.briefing import Question, params_of
from enfilade.callbacks import Callbacks, Grants, granted
from enfilade.layers.chain import RunLayers
from enfilade.layers.context import RunContext
from enfilade.layers.prices import Prices
from enfilade.ledger import Ledger
from enfilade.models.gateway import ModelGateway
from enfilade.storage import Storage
from enfilade.telemetry.place import here, valid_traceparent
from enfilade.tools.engine import ToolEngine
from enfilade.tools.report import LoadReport
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.messages import LogStatus, ToolInvokeMessage, log_message
from enfilade_sdk.prompts import PromptTool

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """One run as it was asked for, and what accompanies it."""

    agent: AgentConfig
    question: Question
    run_id: str
    model: str
    seconds: float
    ledger: Ledger
    layers: RunLayers


class Invoking:
    """What every run of a host needs to begin.

    Args:
        gateway: Answers the model's calls.
        storage: Keeps strategies' small values.
        prices: What models cost.
    """

    def __init__(self, gateway: ModelGateway, storage: Storage, prices: Prices) -> None:
        self._gateway = gateway
        self._storage = storage
        self._prices = prices

    def begun(
        self, asked: Asked, admitted: Admitted, engine: ToolEngine, deadline: float
    ) -> Callable[[], AsyncGenerator[ToolInvokeMessage, None]]:
        """Tells the layers of the run; gives what starts it.

        Args:
            asked: The run.
            admitted: Its strategy.
            engine: Its tools.
            deadline: When it has to be over, on the loop's clock.
        """
        model, layers = asked.model, asked.layers
        invocation = self._invocation(asked, admitted, engine.menu())
        grants = Grants(
            models=(model,),
            tools=frozenset(tool.name for tool in invocation.tools),
            plugin=admitted.candidate.plugin,
            conversation=asked.question.conversation_id or "",
        )
        layers.begin(self._context(asked, admitted, invocation, deadline))
        ask = layers.model_calls(self._gateway.stream)
        call = layers.tool_calls(granted(grants, asked.ledger, engine.invoke))
        hatch = Callbacks(grants, ask, call, self._storage, asked.ledger, {model: invocation.model})

        def start() -> AsyncGenerator[ToolInvokeMessage, None]:
            messages = admitted.runner.run(_traced(invocation), hatch)
            return _after(_missing(asked.run_id, engine.report), messages) if engine.report.refusals else messages

        return start

    def _context(self, asked: Asked, admitted: Admitted, invocation: Invocation, deadline: float) -> RunContext:
        return RunContext(
            plugin=admitted.candidate.plugin,
            agent=asked.agent,
            question=asked.question,
            invocation=invocation,
            parameters=admitted.description.parameters,
            model=invocation.model,
            model_name=asked.model,
            settings=self._gateway.resolve(asked.model),
            ledger=asked.ledger,
            prices=self._prices,
            deadline=deadline,
            interruption=asked.layers.interruption,
        )

    def _invocation(self, asked: Asked, admitted: Admitted, menu: Sequence[PromptTool]) -> Invocation:
        question = asked.question
        return Invocation(
            strategy=admitted.name,
            params=params_of(admitted.description, asked.agent, question.text, asked.model, menu),
            run_id=asked.run_id,
            user_id=question.user_id,
            conversation_id=question.conversation_id,
            app_id=question.app_id,
            message_id=question.message_id,
            credentials=question.credentials,
            deadline=asked.seconds,
            model=self._gateway.info(asked.model),
            tools=tuple(menu),
            history=question.history,
            files=question.files,
            traceparent=valid_traceparent(question.traceparent),
        )


def _traced(invocation: Invocation) -> Invocation:
    """The invocation with the span of its run, where there is one."""
    place = here()
    return invocation if place is None or not place.traceparent else replace(invocation, traceparent=place.traceparent)


def _missing(run_id: str, report: LoadReport) -> list[ToolInvokeMessage]:
    """Tells the user which tools the agent has to do without."""
    for refusal in report.refusals:
        _log.warning("run %s goes on without %s", run_id, refusal)
    reasons = [str(refusal) for refusal in report.refusals]
    return [log_message("tool not loaded", data={"reason": reason}, status=LogStatus.ERROR) for reason in reasons]


async def _after(
    first: Sequence[ToolInvokeMessage], messages: AsyncGenerator[ToolInvokeMessage, None]
) -> AsyncGenerator[ToolInvokeMessage, None]:
    async with aclosing(messages):
        for message in first:
            yield message
        async for message in messages:
            yield message
