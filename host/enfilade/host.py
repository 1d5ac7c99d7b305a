"""The corridor: resolve a strategy, invoke it, transform what it says."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType
from typing import Any, Self
from uuid import uuid4
from weakref import WeakSet

from enfilade.admission import Admitted
from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.candidate import Candidate
from enfilade.config import Config, load_config
from enfilade.errors import ConfigError
from enfilade.extensions.late_counts import LateCounts
from enfilade.extensions.late_petitions import LatePetitions
from enfilade.extensions.late_store import late_store
from enfilade.extensions.loading import Extensions
from enfilade.invoking import Asked, Invoking
from enfilade.layers.chain import Chain
from enfilade.layers.kind import Supplies
from enfilade.layers.kinds import LayerKinds, layers_of, records_runs
from enfilade.layers.layer import Layer
from enfilade.layers.marks import Marks
from enfilade.layers.prices import Prices
from enfilade.ledger import Ledger
from enfilade.memory import Memory
from enfilade.misuse import HomeLoop, check_agent, check_config, question_of
from enfilade.models.gateway import ModelGateway
from enfilade.outcome import Outcome
from enfilade.plugins import Plugins
from enfilade.resolved import ResolvedStrategy, Resolver
from enfilade.run import Run
from enfilade.storage import MemoryStorage, Storage
from enfilade.store.start import RunStart
from enfilade.stream import GuardedStream
from enfilade.telemetry.pipeline import Pipeline
from enfilade.telemetry.place import InPlace, Life, Place, within
from enfilade.toolboxes import Toolboxes
from enfilade.transform import Transform
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.invocation import File
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import PromptMessage

_log = logging.getLogger(__name__)

AUTO = "auto"
"""The strategy's name that leaves the choice to what the model can do."""


class Host:
    """Finds strategies, runs them, answers their calls. Use it as an async context manager.

    Args:
        config: The set-up; None reads the configuration file and the environment.
        candidates: The plugins; None discovers them, and follows those that are installed, updated and removed while
            the host lives.
        further: Plugins beside those that are discovered.
        tools: Python functions (or `Tool`s) that agents may name beside the configured ones.
        storage: Where strategies keep their small values; None is memory.
        layers: What stands around runs and their calls, the outermost first; None takes those of the configuration.
        extensions: What packages add to the host; None loads those that are installed (`ENFILADE_LOAD_PLUGINS`).

    Raises:
        ConfigError: The set-up cannot be used; the text names the place.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        candidates: Iterable[Candidate] | None = None,
        further: Iterable[Candidate] = (),
        tools: Sequence[Any] = (),
        storage: Storage | None = None,
        layers: Iterable[Layer] | None = None,
        extensions: Extensions | None = None,
    ) -> None:
        self.config = load_config() if config is None else config
        check_config(self.config)
        self.extensions = extensions or Extensions.installed()
        offer = self.extensions.offer
        self.gateway = ModelGateway(self.config.models, self.config.default_model, offer.models)
        self._plugins = Plugins(self.config, offer.launchers, candidates, further)
        self.catalog = self._plugins.catalog
        self._toolboxes = Toolboxes.of(self.config, tools, offer.tools.values())
        self._store = late_store(offer.stores, self.config.store)
        self._storage = storage or (MemoryStorage() if self.config.store is None else self._store)
        remembers = self.config.store is not None or (layers is None and records_runs(self.config))
        self._memory = Memory(self._store if remembers else None, self.config.memory)
        self._invoking = Invoking(self.gateway, self._storage, Prices(self.config.prices))
        wanted = self.config.telemetry if layers is None else None
        self._pipeline = Pipeline(wanted) if wanted is not None and wanted.enabled else None
        self._plugins.report_to(self.extensions.plugin_state)
        if self._pipeline is not None:
            self._plugins.report_to(self._pipeline.plugins.changed)
        self._marks = self.config.log_format == "json"
        try:
            self._chain = self._chained(layers)
        except BaseException:
            if self._pipeline is not None:
                self._pipeline.discard()
            raise
        self._home = HomeLoop()
        self._runs: WeakSet[Run] = WeakSet()
        self._underway: set[object] = set()

    async def __aenter__(self) -> Self:
        self._home.enter()
        self._plugins.open()
        if self._pipeline is not None:
            self._pipeline.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancels the runs that were left, stops every guest, closes tools and models; nothing is left behind."""
        await asyncio.gather(*(run.leave() for run in list(self._runs)))
        await self._plugins.close()
        await self._toolboxes.close()
        await self.gateway.aclose()
        await self._store.aclose()
        if self._pipeline is not None:
            await self._pipeline.aclose()
        self._home.leave()

    def run(
        self,
        agent: AgentConfig,
        question: str | Question,
        *,
        history: Sequence[PromptMessage] = (),
        files: Sequence[File] = (),
        timeout: float | None = None,
    ) -> Run:
        """Puts one question to an agent.

        Args:
            agent: Strategy, model, instruction, tools.
            question: The text, or a `Question` with everything that comes with it. One that names a conversation and
                has no history gets that of the records, where there is a store.
            history: Earlier turns of the conversation, oldest first, also as dicts in the form of OpenAI's chat (for a
                question given as text).
            files: Files of the question (for a question given as text).
            timeout: Seconds the run may take (for a question given as text).

        Returns:
            The run: iterate it for its messages; its `outcome` is there at the end. Faults of the set-up show when it
            is iterated, as failures of the run.

        Raises:
            MisuseError: `agent` or `question` is something else, or the host lives on another event loop.
        """
        check_agent(agent)
        question = question_of(question, history, files, timeout)
        self._home.check()
        run_id = uuid4().hex
        ledger = Ledger()
        layers = self._chain.open()
        transform = Transform(ledger, self.config.limits.file_bytes, run_id)
        asked = Asked(agent, question, run_id, self._model_of(agent), self._seconds_of(question), ledger, layers)
        messages = self._messages(asked)
        run = Run(run_id, messages, transform, layers.ended, self._underway)
        self._runs.add(run)
        return run

    async def ask(self, agent: AgentConfig, question: str | Question, **more: Any) -> Outcome:
        """Puts one question to an agent and gives the outcome; a failure is in the outcome. Takes what `run` takes."""
        return await self.run(agent, question, **more).wait()

    async def record_failure(self, agent: AgentConfig, question: Question, error: EnfiladeError) -> None:
        """Records, where runs are recorded, that a question was not put because `prepare` failed."""
        await self._chain.open().failed_to_begin(self._start_of(uuid4().hex, agent, question), error)

    def fitting(self, history: Sequence[PromptMessage], model: str) -> tuple[PromptMessage, ...]:
        """The newest whole turns of a history that `[memory]` or the model's context window has room for."""
        return self._memory.fitting(history, self.gateway.info(model))

    async def remembers(self) -> bool:
        """Whether a question that names a conversation and has no history gets its earlier turns; opens the store.

        Raises:
            StoreError: The store cannot be opened.
        """
        return await self._memory.works()

    @property
    def layers(self) -> tuple[Layer, ...]:
        """What stands around runs and their calls, the outermost first."""
        return self._chain.layers

    def metrics_text(self) -> str:
        """The metrics as they stand, in the text form that Prometheus reads.

        Raises:
            ConfigError: The configuration does not ask for telemetry.
        """
        if self._pipeline is None:
            raise ConfigError("this host counts nothing; add [telemetry] to its configuration")
        return self._pipeline.metrics_text()

    async def open(self, name: str) -> Admitted:
        """The strategy of that name, opened and checked.

        Raises:
            EnfiladeError: There is none, or it could not be opened, or does not fit the contract.
        """
        self._home.check()
        return await self.catalog.admitted(name)

    async def prepare(self, agent: AgentConfig) -> Admitted:
        """Opens the strategy and tools of an agent and warms its model up, so that a run begins at once.

        Raises:
            EnfiladeError: The model is not known, or the strategy or a tool cannot be had.
        """
        model = self._model_of(agent)
        self.gateway.warm(model)
        strategy = self._strategy_of(agent, tools=self.gateway.info(model).tools)
        try:
            async with asyncio.TaskGroup() as both:  # the tools are read while the plugin's process starts
                opening = both.create_task(self.open(strategy))
                both.create_task(self._toolboxes.engine(agent.tools))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return opening.result()

    def resolve(self, name: str, agent: AgentConfig | None = None) -> ResolvedStrategy:
        """A strategy as the structural contract has it, with the model and tools of an agent.

        Raises:
            StrategyNotFoundError: No plugin offers it; the text lists near matches.
        """
        self.catalog.check_name(name)
        base = agent or AgentConfig()

        def start(strategy: str, params: dict[str, Any], **ids: Any) -> Run:
            given = dict(params)
            query = str(given.pop("query", ""))
            merged = base.model_copy(update={"strategy": strategy, "parameters": base.parameters | given})
            return self.run(merged, Question(query, **{key: value for key, value in ids.items() if value is not None}))

        return ResolvedStrategy(name, self._home.loop, lambda: self.open(name), start)

    def resolver(self) -> Resolver:
        """An `AgentStrategyResolver` over this host."""

        def resolve(provider: str, name: str) -> ResolvedStrategy:
            self.catalog.check_name(name, provider)
            return self.resolve(name)

        return Resolver(resolve)

    async def _messages(self, asked: Asked) -> AsyncGenerator[ToolInvokeMessage, None]:
        source = self._resolved_and_invoked(asked)
        life = Life()
        marked = within(InPlace(Place(asked.run_id, life=life)), lambda: source) if self._marks else source
        guard = GuardedStream(marked, self.config.limits, asked.seconds, asked.layers.interruption)
        try:
            async with aclosing(guard.messages()) as guarded:
                async for message in guarded:
                    yield message
        except EnfiladeError as error:
            await asked.layers.failed_to_begin(self._start_of(asked.run_id, asked.agent, asked.question), error)
            raise
        finally:
            life.over = True

    async def _resolved_and_invoked(self, asked: Asked) -> AsyncGenerator[ToolInvokeMessage, None]:
        deadline = asyncio.get_running_loop().time() + asked.seconds
        self.gateway.warm(asked.model)
        info = self.gateway.info(asked.model)
        strategy = self._strategy_of(asked.agent, tools=info.tools)
        async with (
            self.catalog.pinned(strategy) as admitted,  # the run ends on the version that it began on
            self._toolboxes.lent(asked.agent.tools) as engine,  # and with the tools
        ):
            question = await self._memory.recalled(asked.question, info)
            asked = replace(asked, question=question)
            start = self._invoking.begun(asked, admitted, engine, deadline)
            try:
                async with aclosing(asked.layers.run(start)) as messages:
                    async for message in messages:
                        yield message
            except EnfiladeError as error:
                if trace := error.details.pop("traceback", None):
                    _log.error("run %s: strategy %r failed:\n%s", asked.run_id, admitted.name, trace)
                raise

    def _start_of(self, run_id: str, agent: AgentConfig, question: Question) -> RunStart:
        """A run as it is recorded that did not begin; its parameters are left out, for nobody said which are secret."""
        return RunStart(
            run_id=run_id,
            strategy=agent.strategy or self.config.default_strategy,
            question=question.text,
            model=self._model_of(agent),
            user_id=question.user_id,
            conversation_id=question.conversation_id,
            app_id=question.app_id,
            message_id=question.message_id,
            files=question.files,
            trace={"traceparent": question.traceparent, "tracestate": question.tracestate},
        )

    def _seconds_of(self, question: Question) -> float:
        return question.seconds or self.config.limits.run_seconds

    def _model_of(self, agent: AgentConfig) -> str:
        return agent.model or self.config.default_model

    def _strategy_of(self, agent: AgentConfig, *, tools: bool) -> str:
        name = agent.strategy or self.config.default_strategy
        if name != AUTO:
            return name
        return "function-calling" if tools else "chain-of-thought"

    def _supplies(self) -> Supplies:
        """What the configured layers may need; quotas count in the store where runs are recorded."""
        counts = LateCounts(self._store) if self.config.store is not None or records_runs(self.config) else None
        petitions, pipeline = LatePetitions(self._store), self._pipeline
        return Supplies(self.gateway, self._toolboxes.registry, self._store, counts, petitions, pipeline)

    def _chained(self, layers: Iterable[Layer] | None) -> Chain:
        if layers is None:
            kinds = LayerKinds(self.extensions.offer.layers.values())
            layers = kinds.build(layers_of(self.config), self._supplies())
        marks = [Marks()] if self._marks else []
        events = self.extensions.run_events()
        return Chain([*marks, *([] if events is None else [events]), *layers])
