import asyncio
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.discovery.entry_points import installed_candidates
from enfilade.layers.limits import ExecutionLimits
from enfilade.layers.telemetry import Telemetry
from enfilade.outcome import Status
from enfilade_sdk.prompts import ModelChunk, ToolResult
from tests.layers.scenario import (
    LOOK,
    REQUEST,
    Isolation,
    answer,
    collected,
    hosted,
    model_inner,
    run_layers,
    told,
    tool_inner,
)
from tests.support.collector import Collector
from tests.support.model_turns import call_turn, error_turn, text_turn
from tests.telemetry.traced import CALLER, CALLERS_SPAN, CALLERS_TRACE, USAGE, traced

EACH = pytest.mark.parametrize("isolation", ["inprocess", "process"])
SECRET = "sesame-open-now"


def weigh(stone: str) -> str:
    """Weighs a stone."""
    if stone == "feather":
        raise ValueError("a feather is no stone")
    return f"{stone} weighs 3 kg"


@EACH
async def test_a_run_is_a_span_and_its_calls_are_its_children(isolation: Isolation) -> None:
    turns = [call_turn("calculator", {"expression": "6*7"}, usage=USAGE), text_turn("It is ", "42.", usage=USAGE)]
    agent = AgentConfig(
        strategy="function-calling", tools=("calculator",), prompt="Be brief.", parameters={"max_iteration": 3}
    )
    async with Collector() as collector:
        plugins = installed_candidates({}, isolation)
        async with traced(collector, turns, isolation=isolation, candidates=plugins) as host:
            outcome = await host.ask(agent, Question("What is 6 * 7?", conversation_id="c9"))
    assert outcome.answer == "It is 42."
    run, tool, chats = collector.one("invoke_agent"), collector.one("execute_tool"), collector.named("chat ")
    assert (run.name, run.kind, run.parent, run.status) == ("invoke_agent function-calling", "INTERNAL", "", "UNSET")
    assert run.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "function-calling",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted",
        "gen_ai.conversation.id": "c9",
        "gen_ai.usage.input_tokens": 200,
        "gen_ai.usage.output_tokens": 40,
        "enfilade.run.id": outcome.run_id,
        "enfilade.plugin": "enfilade-fc",
        "enfilade.run.rounds": 2,
        "enfilade.run.status": "succeeded",
    }
    assert run.resource["service.name"] == "enfilade"
    assert [(chat.name, chat.kind, chat.parent, chat.trace, chat.status) for chat in chats] == [
        ("chat scripted", "CLIENT", run.id, run.trace, "UNSET")
    ] * 2
    first = dict(chats[0].attributes)
    assert 0 < float(str(first.pop("gen_ai.response.time_to_first_chunk"))) < chats[0].seconds
    port = first.pop("server.port")
    assert isinstance(port, int) and port > 0
    assert first == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted",
        "gen_ai.request.stream": True,
        "gen_ai.response.model": first["gen_ai.response.model"],
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.conversation.id": "c9",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 64,
        "gen_ai.usage.reasoning.output_tokens": 8,
        "server.address": "127.0.0.1",
    }
    assert (tool.name, tool.kind, tool.parent, tool.trace) == (
        "execute_tool calculator",
        "INTERNAL",
        run.id,
        run.trace,
    )
    assert tool.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "calculator",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.conversation.id": "c9",
    }


async def test_nothing_of_what_was_said_is_in_a_span_unless_it_is_asked_for() -> None:
    turns = [text_turn("The answer is heavy."), error_turn(400, {"error": {"message": "your granite is odd"}})]
    async with Collector() as collector, traced(collector, turns, tools=[weigh]) as host:
        steps = ["ask", ["weigh", {"stone": "granite"}], ["weigh", {"stone": "feather"}], "ask"]
        outcome = await host.ask(told(*steps, tools=[weigh]), "How heavy is granite?")
    assert outcome.status is Status.FAILED
    assert len(collector.spans) == 5
    for word in ("granite", "feather", "heavy", "odd"):
        assert word not in repr([(span.name, span.attributes, span.text) for span in collector.spans])


async def test_with_content_the_messages_are_in_the_form_of_the_conventions() -> None:
    turns = [call_turn("weigh", {"stone": "granite"}, id="c7"), text_turn("3 kg.")]
    agent = AgentConfig(strategy="function-calling", prompt="Be brief.", tools=({"tool": weigh},))
    plugins = installed_candidates({}, "inprocess")
    async with (
        Collector() as collector,
        traced(collector, turns, candidates=plugins, telemetry={"content": True}) as host,
    ):
        await host.ask(agent, "How heavy is granite?")
    run, tool, chat = collector.one("invoke_agent"), collector.one("execute_tool"), collector.named("chat")[1]
    asked = '{"role":"user","parts":[{"type":"text","content":"How heavy is granite?"}]}'
    assert run.attributes["gen_ai.input.messages"] == f"[{asked}]"
    assert run.attributes["gen_ai.output.messages"] == (
        '[{"role":"assistant","parts":[{"type":"text","content":"3 kg."}]}]'
    )
    assert chat.attributes["gen_ai.system_instructions"] == '[{"type":"text","content":"Be brief."}]'
    assert chat.attributes["gen_ai.input.messages"] == (
        f'[{asked},{{"role":"assistant","parts":[{{"type":"tool_call","id":"c7","name":"weigh",'
        '"arguments":{"stone":"granite"}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c7",'
        '"response":"granite weighs 3 kg"}]}]'
    )
    assert chat.attributes["gen_ai.output.messages"] == (
        '[{"role":"assistant","parts":[{"type":"text","content":"3 kg."}],"finish_reason":"stop"}]'
    )
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"stone":"granite"}'
    assert tool.attributes["gen_ai.tool.call.result"] == "granite weighs 3 kg"


async def test_a_secret_is_masked_in_what_was_said() -> None:
    turns = [text_turn(f"You said {SECRET}.")]
    steps = [["weigh", {"stone": SECRET}], "ask", ["lost", {}]]
    async with Collector() as collector, traced(collector, turns, tools=[weigh], telemetry={"content": True}) as host:
        await host.ask(told(*steps, tools=[weigh], key=SECRET), f"My key is {SECRET}, well?")
    assert SECRET not in repr(collector.spans)
    assert repr(collector.spans).count("********") >= 4


@EACH
async def test_a_failing_model_is_an_error_of_its_call_and_of_the_run(isolation: Isolation) -> None:
    async with (
        Collector() as collector,
        traced(collector, [error_turn(503, {"error": "busy"})], isolation=isolation) as host,
    ):
        outcome = await host.ask(told("ask"), "?")
    assert outcome.status is Status.FAILED
    run, chat = collector.one("invoke_agent"), collector.one("chat")
    assert (run.status, run.text, run.attributes["error.type"]) == ("ERROR", "model_failed", "model_failed")
    assert run.attributes["enfilade.run.status"] == "failed"
    assert (chat.status, chat.attributes["error.type"]) == ("ERROR", "model_failed")
    assert chat.attributes["http.response.status_code"] == 503


@EACH
async def test_a_failing_tool_is_an_error_of_its_call_only(isolation: Isolation) -> None:
    async with Collector() as collector, traced(collector, isolation=isolation, tools=[weigh]) as host:
        outcome = await host.ask(told(["weigh", {"stone": "feather"}], tools=[weigh]), "?")
    assert outcome.status is Status.SUCCEEDED
    run, tool = collector.one("invoke_agent"), collector.one("execute_tool")
    assert (tool.status, tool.text, tool.attributes["error.type"]) == ("ERROR", "tool_failed", "tool_failed")
    assert (run.status, "error.type" in run.attributes) == ("UNSET", False)


@EACH
async def test_a_cancelled_run_says_so_and_its_call_was_given_up(isolation: Isolation) -> None:
    diving = asyncio.Event()

    async def dive() -> str:
        """Dives for ever."""
        diving.set()
        await asyncio.Event().wait()
        return "never"

    async with Collector() as collector, traced(collector, isolation=isolation, tools=[dive]) as host:
        task = asyncio.create_task(host.ask(told(["dive", {}], tools=[dive]), "?"))
        async with asyncio.timeout(30):
            await diving.wait()
        assert "enfilade_runs_open{" in host.metrics_text()
        task.cancel()
        await asyncio.wait({task})
    run, tool = collector.one("invoke_agent"), collector.one("execute_tool")
    assert (run.status, run.text, run.attributes["error.type"]) == ("ERROR", "cancelled", "cancelled")
    assert run.attributes["enfilade.run.status"] == "cancelled"
    assert (tool.attributes["enfilade.call.given_up"], tool.status) == (True, "UNSET")


async def test_a_run_that_a_layer_ends_is_an_error_of_that_kind() -> None:
    layers = [{"kind": "limits", "max_steps": 1}]
    async with (
        Collector() as collector,
        traced(collector, [text_turn("a")], repeat_last=True, config={"layers": layers}) as host,
    ):
        await host.ask(told("ask", "ask"), "?")
    assert collector.one("invoke_agent").attributes["error.type"] == "limit_exceeded"
    assert [chat.status for chat in collector.named("chat")] == ["UNSET", "ERROR"]


@EACH
async def test_many_runs_at_once_never_mix_their_parents(isolation: Isolation) -> None:
    count = 24
    steps = ["ask", ["weigh", {"stone": "a"}], "ask", ["weigh", {"stone": "b"}]]
    async with (
        Collector() as collector,
        traced(collector, [text_turn("a", "b")], isolation=isolation, repeat_last=True, tools=[weigh]) as host,
    ):
        agents = [told(*steps, tools=[weigh], strategy=("on-loop", "in-thread")[i % 2]) for i in range(count)]
        asked = [Question("?", conversation_id=f"c{number}") for number in range(count)]
        runs = [host.ask(agent, question) for agent, question in zip(agents, asked, strict=True)]
        outcomes = await asyncio.gather(*runs)
    roots = {span.id: span for span in collector.named("invoke_agent")}
    assert {span.attributes["enfilade.run.id"] for span in roots.values()} == {each.run_id for each in outcomes}
    assert len({span.trace for span in roots.values()}) == count
    children = [span for span in collector.spans if span.id not in roots]
    assert len(children) == 4 * count
    for child in children:
        parent = roots[child.parent]
        assert child.trace == parent.trace
        assert child.attributes["gen_ai.conversation.id"] == parent.attributes["gen_ai.conversation.id"]


async def test_runs_read_by_turns_in_one_task_never_mix_their_parents() -> None:
    async with Collector() as collector, traced(collector, [text_turn("a")], repeat_last=True) as host:
        runs = [host.run(told({"say": "x"}, "ask", {"say": "y"}, "ask"), "?") for _ in range(4)]
        streams = [aiter(run) for run in runs]
        left = list(streams)
        while left:
            for stream in list(left):
                if await anext(stream, None) is None:
                    left.remove(stream)
    roots = {span.id: span.trace for span in collector.named("invoke_agent")}
    assert len(roots) == 4
    assert all(span.parent == "" for span in collector.named("invoke_agent"))
    assert [roots[chat.parent] for chat in collector.named("chat")] == [chat.trace for chat in collector.named("chat")]


async def test_a_run_that_cannot_begin_is_told_too() -> None:
    async with Collector() as collector, traced(collector) as host:
        question = Question("?", conversation_id="c9", traceparent=CALLER)
        outcome = await host.ask(AgentConfig(strategy="lost"), question)
        text = host.metrics_text()
    run = collector.one("invoke_agent lost")
    assert (run.status, run.attributes["error.type"], run.parent) == ("ERROR", "not_admitted", CALLERS_SPAN)
    assert run.attributes["enfilade.run.id"] == outcome.run_id
    assert run.attributes["gen_ai.conversation.id"] == "c9"
    assert 'enfilade_runs_total{enfilade_run_status="failed",error_type="not_admitted"} 1\n' in text


async def test_the_callers_span_is_the_parent() -> None:
    async with Collector() as collector, traced(collector) as host:
        await host.ask(told({"say": "x"}), Question("?", traceparent=CALLER, tracestate="vendor=1"))
    run = collector.one("invoke_agent")
    assert (run.trace, run.parent) == (CALLERS_TRACE, CALLERS_SPAN)


@pytest.mark.parametrize("given", ["garbage", "00-" + "0" * 32 + "-b7ad6b7169203331-01", CALLER.upper(), CALLER + "-x"])
async def test_a_trace_that_is_none_is_passed_over(given: str) -> None:
    async with Collector() as collector, traced(collector) as host:
        outcome = await host.ask(told({"say": "x"}), Question("?", traceparent=given))
    assert outcome.status is Status.SUCCEEDED
    assert collector.one("invoke_agent").parent == ""


async def test_what_the_caller_does_not_sample_is_not_sent_and_its_trace_goes_on() -> None:
    async with Collector() as collector, traced(collector) as host:
        unsampled = CALLER.removesuffix("01") + "00"
        outcome = await host.ask(AgentConfig(strategy="tells"), Question("?", traceparent=unsampled))
        assert outcome.answer.split("-")[1] == CALLERS_TRACE
        assert outcome.answer.endswith("-00")
    assert collector.spans == []


async def test_the_current_span_of_an_application_is_the_parent_and_stays_the_current_one() -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("application")
    async with hosted([Telemetry(tracer_provider=provider)], [text_turn("a")]) as host:
        with tracer.start_as_current_span("request") as request:
            async for _ in host.run(told({"say": "x"}, "ask"), "?"):
                tracer.start_span("between").end()
    spans = {span.name: span for span in kept.get_finished_spans()}
    own = request.get_span_context().span_id
    assert {_parent(spans["between"]), _parent(spans["invoke_agent on-loop"])} == {own}
    assert _parent(spans["chat scripted"]) == spans["invoke_agent on-loop"].context.span_id
    provider.shutdown()


async def test_a_call_that_was_given_its_result_is_not_given_up() -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    layers = run_layers([Telemetry(tracer_provider=provider)])
    for stop_at, inner in (
        (1, model_inner([ModelChunk("a"), answer()])),
        (2, model_inner([ModelChunk("a"), answer()])),
    ):
        stream = layers.model_calls(inner.stream)(REQUEST)
        for _ in range(stop_at):
            await anext(stream)
        await stream.aclose()
    assert await collected(layers.tool_calls(tool_inner().stream)(LOOK)) == [ToolResult("seen")]
    early, whole, _tool = kept.get_finished_spans()
    assert [(span.attributes or {}).get("enfilade.call.given_up") for span in (early, whole)] == [True, None]
    provider.shutdown()


async def test_a_fault_of_opentelemetry_is_logged_and_the_run_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(TracerProvider):
        def get_tracer(self, *given: Any, **more: Any) -> Any:
            return None

    layers = [Telemetry(tracer_provider=Broken(shutdown_on_exit=False)), ExecutionLimits()]
    async with hosted(layers, [text_turn("a")]) as host:
        outcome = await host.ask(told("ask"), "?")
    assert outcome.answer == "a"
    assert "the observing layer telemetry is left out" in caplog.text


def _parent(span: Any) -> int | None:
    return span.parent.span_id if span.parent else None
