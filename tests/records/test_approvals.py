"""`enfilade approvals`: one process asks, another answers."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.support.enfilade_command import SECONDS, Enfilade, Finished, Running, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import call_turn, text_turn
from tests.support.recorded_command import Recorded, loaded

CALLS = [call_turn("calculator", {"expression": "12 * 7"}), text_turn("Done.")]


@asynccontextmanager
async def asking(anywhere: Recorded, seconds: float = 300, *words: str) -> AsyncIterator[tuple[Running, ModelServer]]:
    """A run whose tool call waits for a word."""
    file = anywhere.enfilade.folder / "enfilade.toml"
    kept = file.read_text() if file.exists() else ""
    layer = f'[[layers]]\nkind = "approval"\ntools = ["calculator"]\nvia = "record"\ntimeout = {seconds}\n'
    file.write_text(kept + layer)
    async with ModelServer(CALLS) as server:
        given = ("run", "--json", "-t", "calculator", *at(server.base_url), *words, "What is 12 * 7?")
        async with anywhere.enfilade.running(*given) as running:
            yield running, server


async def waiting(anywhere: Recorded) -> dict[str, Any]:
    """The petition, once there is one."""
    async with asyncio.timeout(SECONDS):
        while not (found := loaded(await anywhere.enfilade("approvals", "list", "--json"))):
            pass
    petition: dict[str, Any] = found[0]
    return petition


def result_of(done: Finished) -> dict[str, Any]:
    """The tool call as the outcome has it."""
    call: dict[str, Any] = done.outcome["rounds"][0]["calls"][0]
    return call


async def test_a_call_is_listed_and_allowed_by_another_process(anywhere: Recorded) -> None:
    async with asking(anywhere, 300, "--user", "ada") as (running, _):
        petition = await waiting(anywhere)
        assert (petition["status"], petition["tool"], petition["user_id"]) == ("waiting", "calculator", "ada")
        assert petition["arguments"] == {"expression": "12 * 7"}
        listed = await anywhere.enfilade("approvals", "list")
        assert listed.text.splitlines()[0].split() == [
            "ID",
            "ASKED",
            "UNTIL",
            "STATUS",
            "USER",
            "RUN",
            "TOOL",
            "ARGUMENTS",
        ]
        assert '{"expression":"12 * 7"}' in listed.text
        said = await anywhere.enfilade("approvals", "approve", petition["id"][:6])
        assert (said.code, said.text) == (0, "the call of calculator is allowed; the run goes on\n")
        done = await running.finished()
    assert done.code == 0
    assert result_of(done)["result"] == "84"
    assert loaded(await anywhere.enfilade("approvals", "list", "--json")) == []
    (closed,) = loaded(await anywhere.enfilade("approvals", "list", "--closed", "--json"))
    assert (closed["status"], closed["decided_arguments"]) == ("allowed", None)


async def test_other_arguments_go_to_the_tool_and_the_model_is_told(recorded: Recorded) -> None:
    async with asking(recorded) as (running, server):
        petition = await waiting(recorded)
        words = ("--arguments", '{"expression": "2 * 2"}', "--json")
        said = loaded(await recorded.enfilade("approvals", "approve", petition["id"], *words))
        assert (said["status"], said["decided_arguments"]) == ("allowed", {"expression": "2 * 2"})
        done = await running.finished()
        told = server.bodies[1]["messages"][-1]["content"]
    assert result_of(done)["arguments"] == {"expression": "2 * 2"}
    assert told.startswith('(the call was allowed with other arguments: {"expression":"2 * 2"})')
    assert told.endswith("4")


async def test_a_no_and_its_reason_reach_the_model(recorded: Recorded) -> None:
    async with asking(recorded) as (running, server):
        petition = await waiting(recorded)
        said = await recorded.enfilade("approvals", "deny", petition["id"], "--reason", "no sums on Sundays")
        assert (said.code, said.text) == (0, "the call of calculator is refused; the model is told so\n")
        done = await running.finished()
        told = server.bodies[1]["messages"][-1]["content"]
    assert done.code == 0
    assert told.startswith("the call of calculator was not allowed: no sums on Sundays.")
    again = await recorded.enfilade("approvals", "approve", petition["id"])
    assert again.code == 1
    assert "does not wait for a word any more: it is denied" in again.err


async def test_no_word_in_time_is_a_no(recorded: Recorded) -> None:
    async with asking(recorded, 0.5) as (running, _):
        done = await running.finished()
    assert "nobody answered within 0.5 seconds" in result_of(done)["result"]
    (closed,) = loaded(await recorded.enfilade("approvals", "list", "--closed", "--json"))
    assert closed["status"] == "expired"


async def test_the_petition_of_a_host_that_was_killed_lapses(recorded: Recorded) -> None:
    async with asking(recorded) as (running, _):
        petition = await waiting(recorded)
        running.signal(signal.SIGKILL)
        await running.finished()
    assert loaded(await recorded.enfilade("approvals", "list", "--json")) == []
    said = await recorded.enfilade("approvals", "approve", petition["id"], "--json")
    assert said.code == 1
    assert loaded(said)["error"]["code"] == "invalid_params"
    assert "it is lapsed" in said.err


@pytest.mark.parametrize("text", ["nonsense", "[1]", '"x"'])
async def test_arguments_that_are_no_object_are_refused(recorded: Recorded, text: str) -> None:
    recorded.enfilade.write("records.db", "")
    done = await recorded.enfilade("approvals", "approve", "aaaa", "--arguments", text)
    assert done.code == 2
    assert "--arguments: expected a JSON object" in done.err


async def test_without_records_nothing_waits(enfilade: Enfilade) -> None:
    done = await enfilade("approvals", "list")
    assert (done.code, done.out) == (0, b"")
    assert "no call waits for a word" in done.err
    assert json.loads((await enfilade("approvals", "list", "--json")).out) == []
