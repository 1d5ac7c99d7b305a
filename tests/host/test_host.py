"""The host as an application holds it."""

import asyncio
from contextlib import aclosing

import pytest

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.candidate import Candidate
from enfilade.config import Config, Limits
from enfilade.errors import NameConflictError, StrategyNotFoundError
from enfilade.host import Host
from enfilade.outcome import Status
from enfilade_sdk.contract import ResolvedAgentStrategy
from enfilade_sdk.errors import EnfiladeError, ErrorCode, InvalidParamsError, NotAdmittedError
from enfilade_sdk.messages import LogStatus

ECHO = AgentConfig(strategy="echo")


async def test_a_run_gives_its_messages_and_then_its_outcome(host: Host) -> None:
    run = host.run(AgentConfig(strategy="echo", parameters={"times": 2}), Question("ahoy", user_id="kim"))
    before = run.outcome
    texts = [message.message.model_dump()["text"] async for message in run]
    assert texts == ["kim/None: ahoy\n"] * 2
    assert before is None
    assert run.outcome is not None
    assert (run.outcome.status, run.outcome.answer) == (Status.SUCCEEDED, "".join(texts))


async def test_asking_gives_the_outcome(host: Host) -> None:
    outcome = await host.ask(ECHO, Question("ahoy", conversation_id="c7"))
    assert outcome.answer == "user/c7: ahoy\n"
    assert outcome.error is None


async def test_a_question_of_two_megabytes_arrives_whole(host: Host) -> None:
    question = "ä" * 1_000_000
    assert (await host.ask(ECHO, question)).answer == f"user/None: {question}\n"


async def test_an_unknown_strategy_names_what_is_near(host: Host) -> None:
    outcome = await host.ask(AgentConfig(strategy="ecko"), "?")
    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.NOT_ADMITTED
    assert "did you mean 'echo'" in outcome.error.message


async def test_all_faults_of_a_strategy_are_told_at_once(host: Host) -> None:
    with pytest.raises(NotAdmittedError) as caught:
        await host.open("misfit")
    assert len(caught.value.details["faults"]) == 4
    for word in ("budget", "get_parameters", "yields nothing", "label"):
        assert word in caught.value.message


async def test_all_faults_of_parameters_are_told_at_once(host: Host) -> None:
    outcome = await host.ask(AgentConfig(strategy="echo", parameters={"times": 20, "tims": 3}), "?")
    assert isinstance(outcome.error, InvalidParamsError)
    assert len(outcome.error.details["faults"]) == 2
    assert "times" in outcome.error.message


async def test_a_strategy_that_breaks_keeps_what_it_delivered(host: Host) -> None:
    outcome = await host.ask(AgentConfig(strategy="breaks"), "?")
    assert (outcome.status, outcome.text) == (Status.FAILED, "half of ")
    assert outcome.error is not None
    assert "KeyError" in outcome.error.message
    assert "traceback" not in outcome.error.details


async def test_iterating_a_run_that_fails_raises_after_its_messages(host: Host) -> None:
    run, seen = host.run(AgentConfig(strategy="breaks"), "?"), 0
    with pytest.raises(EnfiladeError, match="KeyError"):
        async for _ in run:
            seen += 1
    assert seen == 1
    assert run.outcome is not None
    assert run.outcome.status is Status.FAILED


async def test_the_deadline_ends_a_run_that_waits(host: Host) -> None:
    await host.open("waits")  # starting the plugin counts too
    outcome = await host.ask(AgentConfig(strategy="waits"), "?", timeout=0.3)
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.DEADLINE
    assert outcome.text == "waiting"


async def test_leaving_a_run_cancels_it(host: Host) -> None:
    run = host.run(AgentConfig(strategy="waits"), "?")
    async with aclosing(run):
        async for _ in run:
            break
    assert run.outcome is not None
    assert run.outcome.status is Status.CANCELLED


async def test_cancelling_the_task_that_reads_cancels_the_run(host: Host) -> None:
    run = host.run(AgentConfig(strategy="waits"), "?")
    began = asyncio.Event()

    async def read() -> None:
        async for _ in run:
            began.set()

    task = asyncio.ensure_future(read())
    await asyncio.wait_for(began.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)
    assert run.outcome is not None
    assert run.outcome.status is Status.CANCELLED


async def test_messages_come_to_files_variables_json_usage_and_closed_logs(host: Host) -> None:
    outcome = await host.ask(AgentConfig(strategy="files"), "?")
    big, link = outcome.files
    assert (big.filename, big.data) == ("big.bin", bytes(3_000_000))
    assert (link.type, link.url) == ("link", "https://pictures.example/")
    assert outcome.variables == {"poem": "so long"}
    assert outcome.json == [[1, 2]]
    assert outcome.usage.total_tokens == 5
    assert [log.status for log in outcome.logs] == [LogStatus.ERROR]


async def test_the_outcome_reads_as_json(host: Host) -> None:
    form = (await host.ask(ECHO, "ahoy")).to_json()
    assert form["status"] == "succeeded"
    expected = {
        "status",
        "answer",
        "text",
        "files",
        "json",
        "variables",
        "usage",
        "rounds",
        "retriever_resources",
        "error",
    }
    assert expected <= form.keys()


async def test_the_small_storage_lasts_between_runs_and_is_kept_apart_by_conversation(host: Host) -> None:
    agent = AgentConfig(strategy="remembers")
    asked = [await host.ask(agent, Question("?", conversation_id=name)) for name in ("a", "a", "b")]
    assert [outcome.answer for outcome in asked] == ["1", "2", "1"]


async def test_many_runs_at_once_do_not_mix(host: Host) -> None:
    outcomes = await asyncio.gather(*(host.ask(ECHO, f"q{n}") for n in range(40)))
    assert [outcome.answer for outcome in outcomes] == [f"user/None: q{n}\n" for n in range(40)]


async def test_one_name_from_two_plugins_is_refused_and_both_are_named(candidate: Candidate) -> None:
    twin = Candidate(plugin="twin", origin="another place", offers=candidate.offers[:1])
    async with Host(Config(), candidates=[candidate, twin]) as host:
        with pytest.raises(NameConflictError) as caught:
            await host.open("echo")
    assert "the tests and another place" in caught.value.message


async def test_a_run_over_its_limit_of_messages_is_ended(candidate: Candidate) -> None:
    config = Config(limits=Limits(messages=3))
    async with Host(config, candidates=[candidate]) as host:
        outcome = await host.ask(AgentConfig(strategy="echo", parameters={"times": 5}), "?")
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.LIMIT_EXCEEDED


async def test_a_file_over_the_limit_is_refused_by_name(candidate: Candidate) -> None:
    async with Host(Config(limits=Limits(file_bytes=1_000_000)), candidates=[candidate]) as host:
        outcome = await host.ask(AgentConfig(strategy="files"), "?")
    assert outcome.error is not None
    assert outcome.error.code is ErrorCode.LIMIT_EXCEEDED
    assert "3000000" in outcome.error.message


async def test_a_resolved_strategy_satisfies_the_contract_from_another_thread(host: Host) -> None:
    strategy = host.resolve("echo")

    def use() -> tuple[list[str], list[str]]:
        names = [parameter.name for parameter in strategy.get_parameters()]
        messages = strategy.invoke(params={"query": "ahoy", "times": 2}, user_id="kim", conversation_id="c1")
        return names, [message.message.model_dump()["text"] for message in messages]

    names, texts = await asyncio.to_thread(use)
    assert isinstance(strategy, ResolvedAgentStrategy)
    assert names == ["query", "times", "key"]
    assert texts == ["kim/c1: ahoy\n"] * 2


async def test_closing_a_resolved_strategy_s_generator_cancels_its_run(host: Host) -> None:
    def use() -> None:
        messages = host.resolve("waits").invoke(params={"query": "?"}, user_id="kim")
        next(messages)
        messages.close()

    await asyncio.wait_for(asyncio.to_thread(use), 20)


async def test_the_blocking_form_on_the_host_s_own_loop_is_refused_with_what_to_use(host: Host) -> None:
    with pytest.raises(EnfiladeError, match=r"asyncio\.to_thread"):
        next(host.resolve("echo").invoke(params={"query": "?"}, user_id="kim"))


async def test_a_resolver_finds_by_provider_and_name(host: Host) -> None:
    resolver = host.resolver()
    found = resolver.resolve(tenant_id="t", agent_strategy_provider_name="harbour", agent_strategy_name="echo")
    assert found.name == "echo"
    with pytest.raises(StrategyNotFoundError, match="did you mean 'harbour'"):
        resolver.resolve(tenant_id="t", agent_strategy_provider_name="harbor", agent_strategy_name="echo")
    with pytest.raises(StrategyNotFoundError, match="did you mean 'echo'"):
        resolver.resolve(tenant_id="t", agent_strategy_provider_name="harbour", agent_strategy_name="ecko")
