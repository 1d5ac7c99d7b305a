"""A host whose runs are traced to a collector of the test's own."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from enfilade.candidate import Candidate, Offer
from enfilade.host import Host
from enfilade.sandboxing import Sandboxing
from tests.layers.scenario import Isolation, hosted
from tests.support.collector import Collector
from tests.support.model_turns import Turn

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 8},
}

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CALLERS_TRACE, CALLERS_SPAN = CALLER.split("-")[1:3]

OFFERS = {"own-spans": "OwnSpans", "tells": "Tells", "dies": "Dies"}
FOLDER = str(Path(__file__).parent)


@asynccontextmanager
async def traced(
    collector: Collector,
    turns: Sequence[Turn] = (),
    *,
    telemetry: Mapping[str, Any] | None = None,
    isolation: Isolation = "inprocess",
    config: Mapping[str, Any] | None = None,
    **more: Any,
) -> AsyncIterator[Host]:
    """The host; what it has told is with the collector once the block is left."""
    section = {"endpoint": collector.endpoint, "flush_seconds": 30} | dict(telemetry or {})
    settings = {"telemetry": section} | dict(config or {})
    tracer = Candidate(
        "tracer",
        offers=tuple(Offer(name, f"tracing_strategies:{made}") for name, made in OFFERS.items()),
        isolation=isolation,
        paths=(FOLDER,),
        environment={"COLLECTOR": collector.endpoint},
        sandboxing=Sandboxing(network=True) if isolation == "process" else None,  # it sends spans itself
        start_timeout=30,
    )
    async with hosted(
        None, turns, isolation=isolation, config=settings, candidates=[tracer, *more.pop("candidates", ())], **more
    ) as host:
        yield host
