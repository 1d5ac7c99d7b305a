"""`--user`: whose quota, conversations and records; and runs that come to nothing before they begin."""

from typing import Any

import pytest

from tests.support.enfilade_command import Enfilade, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import text_turn
from tests.support.recorded_command import HARBOUR, Recorded, loaded

QUOTA = '[[layers]]\nkind = "quota"\nper = ["user"]\ncalls = 1\nwindow = 3600\n'


async def test_a_run_is_its_users(recorded: Recorded) -> None:
    async with ModelServer([text_turn("Hello.")] * 4) as server:
        for user in ("ada", "bob"):
            await recorded.run("--user", user, *at(server.base_url), *HARBOUR, f"I am {user}.")
        await recorded.enfilade("chat", "--user", "ada", *at(server.base_url), *HARBOUR, stdin=b"Who am I?\n")
        asked = [message["content"] for message in server.bodies[2]["messages"]]
    assert asked == ["I am ada.", "Hello.", "Who am I?"]
    assert [run["question"] for run in await recorded.runs("--user", "ada")] == ["Who am I?", "I am ada."]
    assert [run["user_id"] for run in await recorded.runs("--user", "bob")] == ["bob"]


async def test_a_quota_is_shared_by_commands_that_come_one_after_another(anywhere: Recorded) -> None:
    file = anywhere.enfilade.folder / "enfilade.toml"
    file.write_text((file.read_text() if file.exists() else "") + QUOTA)
    async with ModelServer([text_turn("Hello.")] * 2) as server:
        words = ("run", "--json", *at(server.base_url), "Hello?")
        first = await anywhere.enfilade(*words, "--user", "ada")
        second = await anywhere.enfilade(*words, "--user", "ada")
        other = await anywhere.enfilade(*words, "--user", "bob")
    assert (first.code, second.code, other.code) == (0, 1, 0)
    assert second.outcome["error"]["code"] == "quota_exceeded"
    assert "the quota of 1 calls in 3600 seconds for user 'ada' is used up" in second.err + second.text


@pytest.mark.parametrize("name", ["", " ", b"caf\xe9"])
async def test_a_user_without_a_name_is_refused(enfilade: Enfilade, name: Any) -> None:
    done = await enfilade("run", "Hello?", "--user", name)
    assert done.code == 2
    assert "--user: expected the user's id, UTF-8 text that is not blank" in done.err


async def test_a_list_without_any_records_is_empty(enfilade: Enfilade) -> None:
    done = await enfilade("runs", "list")
    assert (done.code, done.out) == (0, b"")
    assert "no run is recorded yet" in done.err
    assert loaded(await enfilade("runs", "list", "--json")) == []
    assert not list(enfilade.folder.rglob("records.db"))


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("-m", "nosuch"), "model_failed", "nosuch"),
        (("-s", "broken.py:Broken"), "not_admitted", "oh dear"),
        (("-t", "nosuch"), "tool_not_found", "nosuch"),
    ],
)
async def test_a_run_whose_set_up_fails_is_recorded_as_failed(
    recorded: Recorded, words: tuple[str, ...], code: str, text: str
) -> None:
    recorded.enfilade.write("broken.py", 'raise RuntimeError("oh dear")\n')
    done = await recorded.enfilade("run", "--json", "Hello?", "--user", "ada", *words)
    assert done.code == 1
    (run,) = await recorded.runs()
    assert (run["status"], run["question"], run["user_id"]) == ("failed", "Hello?", "ada")
    assert run["error_code"] == done.outcome["error"]["code"]
    shown = await recorded.shown(run["id"])
    assert text in shown["error"]


async def test_a_command_line_that_cannot_be_meant_is_no_run(recorded: Recorded) -> None:
    done = await recorded.enfilade("run", "Hello?", "-p", "nonsense")
    assert done.code == 2
    assert await recorded.runs() == []


async def test_a_chat_without_records_forgets_the_oldest_turns(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", "[memory]\nmessages = 2\n")
    async with ModelServer([text_turn("One."), text_turn("Two."), text_turn("Three.")]) as server:
        await enfilade("chat", *at(server.base_url), stdin=b"first\nsecond\nthird\n")
        asked = [message["content"] for message in server.bodies[2]["messages"]]
    assert asked == ["second", "Two.", "third"]
