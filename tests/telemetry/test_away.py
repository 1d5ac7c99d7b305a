"""A collector that is away, refuses, or never answers costs a run nothing, and the end of a host not much."""

import asyncio
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from enfilade.outcome import Status
from tests.layers.scenario import told
from tests.support.collector import Collector
from tests.support.model_turns import text_turn
from tests.telemetry.traced import traced

WARNED = "telemetry cannot be sent to http://127.0.0.1:"


class Away(Collector):
    """A port at which nobody listens."""

    @property
    def endpoint(self) -> str:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            return f"http://127.0.0.1:{taken.getsockname()[1]}"


async def test_a_collector_that_is_away_is_told_once_and_runs_go_on(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")  # it is tried while the host lives
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    with _warned() as warned:
        await _asked_meanwhile(warned)
    assert caplog.text.count(WARNED) == 1
    assert "Connection refused" in caplog.text


async def _asked_meanwhile(warned: asyncio.Event) -> None:
    async with Away() as collector, traced(collector, [text_turn("a")], repeat_last=True) as host:
        for _ in range(5):
            assert (await host.ask(told("ask"), "?")).status is Status.SUCCEEDED
        async with asyncio.timeout(30):
            await warned.wait()
        assert (await host.ask(told("ask"), "?")).status is Status.SUCCEEDED
        ending = time.monotonic()
    assert time.monotonic() - ending < 20  # flush_seconds is 30 here


async def test_a_host_that_ends_does_not_try_again_what_cannot_be_reached(caplog: pytest.LogCaptureFixture) -> None:
    async with Away() as collector, traced(collector, [text_turn("a")]) as host:
        await host.ask(told("ask"), "?")
        ending = time.monotonic()
    assert time.monotonic() - ending < 20
    assert caplog.text.count(WARNED) == 1


async def test_a_collector_that_never_answers_is_waited_for_within_the_bound(caplog: pytest.LogCaptureFixture) -> None:
    async with (
        Collector(hangs=True) as collector,
        traced(collector, [text_turn("a")], repeat_last=True, telemetry={"flush_seconds": 0.3}) as host,
    ):
        for _ in range(5):
            assert (await host.ask(told("ask"), "?")).status is Status.SUCCEEDED
        ending = time.monotonic()
        await host.aclose()
        assert time.monotonic() - ending < 15
        await collector.until(lambda: collector.requests > 0)
    assert "was not sent within 0.3 s and is lost" in caplog.text


async def test_a_collector_that_refuses_is_told_with_what_it_says(caplog: pytest.LogCaptureFixture) -> None:
    async with Collector(status=401) as collector, traced(collector, [text_turn("a")]) as host:
        assert (await host.ask(told("ask"), "?")).status is Status.SUCCEEDED
    assert "it answers 401; runs go on without" in caplog.text
    assert caplog.text.count(WARNED) == 1


async def test_spans_are_sent_while_the_host_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    async with Collector() as collector, traced(collector, [text_turn("a")]) as host:
        await host.ask(told("ask"), "?")
        await collector.until(lambda: len(collector.spans) == 2)


async def test_what_there_is_no_room_for_is_dropped_and_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
    async with (
        Collector(hangs=True) as collector,
        traced(collector, [text_turn("a")], repeat_last=True, telemetry={"flush_seconds": 0.2}) as host,
    ):
        outcomes = await asyncio.gather(*(host.ask(told("ask", "ask"), "?") for _ in range(20)))
    assert {outcome.status for outcome in outcomes} == {Status.SUCCEEDED}


async def test_headers_for_the_collector_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOUR_KEY", "k-1")
    async with (
        Collector() as collector,
        traced(collector, telemetry={"headers_env": {"Authorization": "HARBOUR_KEY"}}) as host,
    ):
        await host.ask(told({"say": "x"}), "?")
    assert {headers["authorization"] for headers in collector.headers} == {"k-1"}


@contextmanager
def _warned() -> Iterator[asyncio.Event]:
    """Set when the operator is told that the collector cannot be reached."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            loop.call_soon_threadsafe(event.set)

    logger, handler = logging.getLogger("enfilade.telemetry.collector"), Handler()
    logger.addHandler(handler)
    try:
        yield event
    finally:
        logger.removeHandler(handler)
