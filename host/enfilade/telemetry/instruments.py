"""The metrics of a host."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from enfilade.telemetry import names

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

Value = str | int | float | bool
Values = Mapping[str, Value]


class Instruments:
    """Counts calls, tokens and runs. Nothing here waits or fails.

    Args:
        provider: Whose metrics they are; None is OpenTelemetry's global one.
    """

    def __init__(self, provider: "MeterProvider | None" = None) -> None:
        from opentelemetry import metrics

        meter = metrics.get_meter("enfilade", meter_provider=provider)
        seconds = list(names.SECONDS_BUCKETS)
        self._tokens = meter.create_histogram(
            names.TOKEN_USAGE_METRIC,
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=list(names.TOKEN_BUCKETS),
        )
        self._calls = meter.create_histogram(
            names.CALL_METRIC,
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=seconds,
        )
        self._agents = meter.create_histogram(
            names.AGENT_METRIC,
            unit="s",
            description="Duration of a run.",
            explicit_bucket_boundaries_advisory=seconds,
        )
        self._tools = meter.create_histogram(
            names.TOOL_METRIC,
            unit="s",
            description="Duration of a tool call.",
            explicit_bucket_boundaries_advisory=seconds,
        )
        self._runs = meter.create_counter(names.RUNS_METRIC, unit="{run}", description="Runs that have ended.")
        self._open = meter.create_up_down_counter(
            names.OPEN_RUNS_METRIC, unit="{run}", description="Runs that are under way."
        )

    def run_began(self, values: Values) -> None:
        """A run begins."""
        self._open.add(1, values)

    def run_ended(self, values: Values, seconds: float, status: str, error: str | None) -> None:
        """The run that began with the same values has ended.

        Args:
            values: What it is counted by.
            seconds: How long it took.
            status: How it ended.
            error: The code of its error, if it had one.
        """
        self._open.add(-1, values)
        failed = {} if error is None else {names.ERROR: error}
        self._runs.add(1, {**values, names.STATUS: status, **failed})
        self._agents.record(seconds, {**values, names.OPERATION: names.INVOKE_AGENT, **failed})

    def run_failed_to_begin(self, error: str) -> None:
        """A run failed before anything was known of it; its strategy may be any word, so it is not counted by that."""
        self._runs.add(1, {names.STATUS: "failed", names.ERROR: error})

    def model_called(self, values: Values, seconds: float, tokens: Mapping[str, int | None], error: str | None) -> None:
        """A model call has ended.

        Args:
            values: What it is counted by.
            seconds: How long it took.
            tokens: `input` and `output`; None where the provider did not say.
            error: The code or kind of its error, if it had one.
        """
        self._calls.record(seconds, values if error is None else {**values, names.ERROR: error})
        for kind, count in tokens.items():
            if count is not None:
                self._tokens.record(count, {**values, names.TOKEN_TYPE: kind})

    def tool_called(self, values: Values, seconds: float, error: str | None) -> None:
        """A tool call has ended."""
        self._tools.record(seconds, values if error is None else {**values, names.ERROR: error})


class PluginChange(Protocol):
    """A plugin is in another state now."""

    @property
    def plugin(self) -> str:
        """Whose state it is."""
        ...

    @property
    def state(self) -> str:
        """The state now, such as `ready` or `crashed`."""
        ...


class PluginStates:
    """Counts how often each plugin got into each state.

    Args:
        provider: Whose metrics they are.
    """

    def __init__(self, provider: "MeterProvider") -> None:
        self._changes = provider.get_meter("enfilade").create_counter(
            names.PLUGIN_STATES_METRIC, unit="{change}", description="Times that a plugin got into a state."
        )

    def changed(self, change: PluginChange) -> None:
        """A plugin changed its state."""
        self._changes.add(1, {names.PLUGIN: change.plugin, names.PLUGIN_STATE: str(change.state)})
