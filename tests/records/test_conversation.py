"""A conversation goes on in another process, whatever became of the one before."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.support.enfilade_command import Enfilade, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import call_turn, error_turn, text_turn
from tests.support.recorded_command import HARBOUR, Recorded

SLEEPER = """
async def sleeper() -> str:
    '''Waits for ever.'''
    import asyncio
    print("the tool sleeps", flush=True)
    await asyncio.Event().wait()
    return "late"
"""

COUNTS = """
class Counts:
    def get_parameters(self):
        return []

    def invoke(self, *, session, **_):
        count = (session.storage.get("count").wait() or 0) + 1
        session.storage.set("count", count).wait()
        yield str(count)
"""


def said(server: ModelServer) -> list[tuple[str, str]]:
    """The words of the last request."""
    return [(message["role"], message.get("content") or "") for message in server.bodies[-1]["messages"]]


async def test_two_turns_in_two_processes_are_one_conversation(anywhere: Recorded) -> None:
    first = await anywhere.run("What is 12 * 7?", *HARBOUR)
    second = await anywhere.run("And 3 * 3?", *HARBOUR)
    assert (first.code, second.code) == (0, 0), (first.err, second.err)
    newest, oldest = await anywhere.runs(*HARBOUR)
    assert (oldest["question"], newest["question"]) == ("What is 12 * 7?", "And 3 * 3?")
    assert {oldest["status"], newest["status"]} == {"succeeded"}
    used = [(await anywhere.shown(run["id"]))["rounds"][0]["usage"]["prompt_tokens"] for run in (oldest, newest)]
    assert used[1] > used[0]  # the demo model counts the earlier turn too


async def test_chat_goes_on_with_what_the_model_had(recorded: Recorded) -> None:
    turns = [call_turn("calculator", {"expression": "6 * 7"}), text_turn("42."), text_turn("Yes.")]
    async with ModelServer(turns) as server:
        words = ("chat", "-t", "calculator", *at(server.base_url), *HARBOUR)
        await recorded.enfilade(*words, stdin=b"6 * 7?\n")
        had = [*server.bodies[1]["messages"], {"role": "assistant", "content": "42."}]
        done = await recorded.enfilade(*words, stdin=b"Sure?\n")
        assert server.bodies[2]["messages"] == [*had, {"role": "user", "content": "Sure?"}]
    assert done.out == b"Yes.\n"


async def test_chat_goes_on_after_a_run_that_failed(recorded: Recorded) -> None:
    async with ModelServer([error_turn(401, {"error": {"message": "who?"}}), text_turn("Two.")]) as server:
        await recorded.enfilade("chat", *at(server.base_url), *HARBOUR, stdin=b"First?\n")
        done = await recorded.enfilade("chat", *at(server.base_url), *HARBOUR, stdin=b"Second?\n")
        assert said(server) == [
            ("user", "First?"),
            ("assistant", "[No answer: the run failed (model_failed).]"),
            ("user", "Second?"),
        ]
    assert (done.code, done.out) == (0, b"Two.\n")


async def test_a_recorded_chat_says_its_id_and_reset_begins_another(recorded: Recorded) -> None:
    async with ModelServer([text_turn("One."), text_turn("Two.")]) as server:
        done = await recorded.enfilade("chat", *at(server.base_url), stdin=b"First?\n/reset\nSecond?\n")
        assert said(server) == [("user", "Second?")]
    second, first = [run["conversation_id"] for run in await recorded.runs()]
    assert first != second
    assert f"chat --conversation {first} goes on with it" in done.err
    assert f"this is conversation {second}" in done.err


async def test_a_host_that_is_killed_leaves_an_interrupted_run_and_a_conversation(anywhere: Recorded) -> None:
    anywhere.enfilade.write("sleeper.py", SLEEPER)
    async with ModelServer([call_turn("sleeper", {}), text_turn("Here.")]) as server:
        words = ("run", "-v", "-t", "sleeper.py:sleeper", *at(server.base_url), *HARBOUR)
        async with anywhere.enfilade.running(*words, "Wait.") as running:
            await running.until(lambda: "the tool sleeps" in running.err)
            await _until_recorded(anywhere)
            running.signal(signal.SIGKILL)
            await running.finished()
        done = await anywhere.enfilade(*words, "Are you there?")
        assert done.code == 0, done.err
        roles = [role for role, _ in said(server)]
        assert roles == ["user", "assistant", "tool", "assistant", "user"]
        assert "the host stopped in the middle of the run" in said(server)[2][1]
    newest, oldest = await anywhere.runs()
    assert (oldest["status"], newest["status"]) == ("interrupted", "succeeded")


async def _until_recorded(recorded: Recorded) -> None:
    """Waits until the call is in the store: what is younger than the interval may be lost."""
    async with asyncio.timeout(30):
        while True:
            runs = await recorded.runs()
            if runs and (await recorded.shown(runs[0]["id"]))["rounds"][0]["calls"]:
                assert runs[0]["status"] == "running"
                return


async def test_a_listing_closes_the_runs_of_a_host_that_was_killed_here(recorded: Recorded) -> None:
    recorded.enfilade.write("sleeper.py", SLEEPER)
    async with ModelServer([call_turn("sleeper", {})]) as server:
        words = ("run", "-v", "-t", "sleeper.py:sleeper", *at(server.base_url))
        async with recorded.enfilade.running(*words, "Wait.") as running:
            await running.until(lambda: "the tool sleeps" in running.err)
            await _until_recorded(recorded)
            running.signal(signal.SIGKILL)
            await running.finished()
    (run,) = await recorded.runs("--status", "interrupted")
    assert (run["question"], run["answer"]) == ("Wait.", None)


async def test_the_small_storage_lasts_and_conversations_have_their_own(recorded: Recorded) -> None:
    recorded.enfilade.write("counts.py", COUNTS)
    words = ("run", "-s", "counts.py:Counts", "How often?")
    answers = [(await recorded.enfilade(*words, "--conversation", name)).out for name in ("a", "a", "b", "a")]
    assert answers == [b"1\n", b"2\n", b"1\n", b"3\n"]


async def test_record_uses_the_users_data_folder(enfilade: Enfilade) -> None:
    silent = await enfilade("run", "What is 12 * 7?", "-t", "calculator")
    assert silent.code == 0
    assert _databases(enfilade.folder) == []
    done = await enfilade("run", "--record", "What is 12 * 7?", "-t", "calculator")
    assert done.code == 0, done.err
    (file,) = _databases(enfilade.folder)
    assert (file.parent.name, file.name) == ("enfilade", "records.db")
    (run,) = await Recorded(enfilade, "").runs()
    assert (run["status"], run["conversation_id"]) == ("succeeded", None)


def _databases(folder: Path) -> list[Path]:
    return sorted(folder.rglob("records.db"))


async def test_record_also_turns_on_what_the_configuration_turns_off(enfilade: Enfilade) -> None:
    off = '[[layers]]\nkind = "recording"\nenabled = false\n'
    enfilade.write("enfilade.toml", f'[store]\nurl = "sqlite:///r.db"\n{off}')
    question = ("What is 12 * 7?", "-t", "calculator")
    await enfilade("run", *question)
    await enfilade("run", *question, "--record")
    assert len(await Recorded(enfilade, "").runs()) == 1


@pytest.mark.parametrize("name", ["", "  ", b"caf\xe9"])
async def test_a_conversation_without_a_name_is_refused(enfilade: Enfilade, name: str | bytes) -> None:
    done = await enfilade("run", "Hello?", "--conversation", name)
    assert done.code == 2
    assert "--conversation: expected the conversation's id" in done.err
