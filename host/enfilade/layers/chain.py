"""The layers of a host in their order, and what they are to one run."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from enfilade.layers.blame import code_of, culprit
from enfilade.layers.context import RunContext
from enfilade.layers.interruption import Interruption
from enfilade.layers.layer import (
    Layer,
    MessageStream,
    NextModelCall,
    NextToolCall,
    name_of,
)
from enfilade.layers.observed import PATIENCE, Observed
from enfilade.layers.onion import CallNext, Named, Onion, Step
from enfilade.layers.recording import Recording
from enfilade.layers.telemetry import Telemetry
from enfilade.outcome import Outcome
from enfilade.store.start import RunStart
from enfilade_sdk.errors import EnfiladeError, InternalError
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult, ToolRequest, ToolResult

R = TypeVar("R")
T = TypeVar("T")

_log = logging.getLogger(__name__)


class Chain:
    """The layers of a host, the outermost first.

    Args:
        layers: The layers. The same one serves every run.
        patience: Seconds that an observing layer may keep something to itself.

    Raises:
        TypeError: One of them is no layer.
    """

    def __init__(self, layers: Iterable[Layer] = (), patience: float = PATIENCE) -> None:
        self.layers = tuple(layers)
        self.patience = patience
        for layer in self.layers:
            if not isinstance(layer, Layer):
                raise TypeError(f"expected a Layer, got a {type(layer).__name__}: {layer!r}")
        self.codes = code_of(self.layers)

    def open(self) -> "RunLayers":
        """What the layers are to one run."""
        return RunLayers(self)


class RunLayers:
    """The layers around one run; `begin` comes before all else."""

    def __init__(self, chain: Chain) -> None:
        self.interruption = Interruption()
        self._chain = chain
        self._inner: list[tuple[Layer, RunContext]] = []

    async def failed_to_begin(self, start: RunStart, error: EnfiladeError) -> None:
        """Lets the layers that keep account tell of a run that came to nothing before any layer stood around it."""
        for layer in () if self._inner else self._chain.layers:
            if isinstance(layer, Recording | Telemetry):
                try:
                    await layer.failed_to_begin(start, error)
                except EnfiladeError as fault:
                    _log.error("run %s failed and could not be recorded: %s", start.run_id, fault.message)

    def begin(self, context: RunContext) -> None:
        """Says which run it is; each layer gets a place of its own for its state."""
        self._inner = [
            (layer, context.for_layer(may_interrupt=layer.mode == "guarding")) for layer in self._chain.layers
        ]

    def run(self, start: Callable[[], MessageStream]) -> MessageStream:
        """The run's messages."""
        if not self._inner:
            return start()
        steps: list[Named[None, ToolInvokeMessage]] = [
            self._step(layer, partial(_run_step, layer, context)) for layer, context in self._overriding("run")
        ]
        return self._run_passage(steps, start)

    def model_calls(self, ask: NextModelCall) -> NextModelCall:
        """What answers the run's model calls; `ask` itself when no layer stands around them."""
        steps: list[Named[ModelRequest, ModelChunk | ModelResult]] = [
            self._step(layer, partial(layer.model_call, context)) for layer, context in self._overriding("model_call")
        ]
        if not steps:
            return ask
        return lambda request: self._call_passage(Onion(steps, ask), request, ModelResult)

    def tool_calls(self, call: NextToolCall) -> NextToolCall:
        """What answers the run's tool calls; `call` itself when no layer stands around them."""
        steps: list[Named[ToolRequest, ToolInvokeMessage | ToolResult]] = [
            self._step(layer, partial(layer.tool_call, context)) for layer, context in self._overriding("tool_call")
        ]
        if not steps:
            return call
        return lambda request: self._call_passage(Onion(steps, call), request, ToolResult)

    async def ended(self, outcome: Outcome) -> None:
        """Tells the layers, the innermost first, what the run came to; whatever they do, the run has ended."""
        for layer, context in reversed(self._overriding("ended")):
            patience = self._chain.patience if layer.mode == "observing" else None
            try:
                async with asyncio.timeout(patience):
                    await layer.ended(context, outcome)
            except Exception:  # noqa: BLE001 - the run has ended; nothing changes that
                _log.exception("the layer %s failed after run %s", name_of(layer), outcome.run_id)

    def _overriding(self, method: str) -> list[tuple[Layer, RunContext]]:
        return [pair for pair in self._inner if getattr(type(pair[0]), method) is not getattr(Layer, method)]

    def _step(self, layer: Layer, step: Step[R, T]) -> Named[R, T]:
        name = name_of(layer)
        if layer.mode == "guarding":
            return name, step
        return name, partial(_observing_step, name, self._chain.patience, step)

    async def _run_passage(
        self, steps: Sequence[Named[None, ToolInvokeMessage]], start: Callable[[], MessageStream]
    ) -> MessageStream:
        onion = Onion(steps, lambda _: self.interruption.within(start()))
        try:
            async for message in onion.open(None):
                yield message
        except EnfiladeError:
            raise
        except Exception as error:
            raise self._seen(error, onion) from error
        finally:
            await onion.close()

    async def _call_passage(self, onion: Onion[R, T], request: R, end: type[T]) -> AsyncGenerator[T, None]:
        self.interruption.check()
        done = False
        try:
            async for item in onion.open(request):
                if done:
                    raise self._failed(f"a layer gave a {type(item).__name__} after a call's result")
                done = isinstance(item, end)
                yield item
            if not done:
                raise self._failed(f"a layer ended a call without a {end.__name__}")
        except EnfiladeError:
            raise
        except Exception as error:
            raise self._seen(error, onion) from error
        finally:
            await onion.close()

    def _seen(self, error: Exception, onion: Onion[R, T]) -> Exception:
        """The failure of a run for a layer's fault; what only came through the layers stays as it is."""
        name = culprit(error, self._chain.codes, onion.opened, onion.innermost)
        if name is None:
            return error
        _log.error("the layer %s failed", name, exc_info=error)
        return self._failed(f"the layer {name} failed with {type(error).__name__}: {error}")

    def _failed(self, text: str) -> InternalError:
        failure = InternalError(text)
        self.interruption.interrupt(failure)
        return failure


def _run_step(
    layer: Layer, context: RunContext, _request: None, call_next: CallNext[None, ToolInvokeMessage]
) -> MessageStream:
    return layer.run(context, lambda: call_next(None))


def _observing_step(
    name: str, patience: float, step: Step[R, T], request: R, call_next: CallNext[R, T]
) -> AsyncGenerator[T, None]:
    observed = Observed(name, request, call_next, patience)
    return observed.stream(partial(step, request))
