"""`enfilade runs`, on a store that no host has open."""

import stat
from pathlib import Path

import pytest

from enfilade.cli.commands.runs import STATES
from enfilade.store.state import State
from tests.support.enfilade_command import Enfilade
from tests.support.recorded_command import HARBOUR, Recorded, loaded

WAY = ("What is 12 * 7?", *HARBOUR)


async def test_a_list_has_a_line_for_each_run_that_is_wanted(recorded: Recorded) -> None:
    await recorded.run(*WAY)
    await recorded.run("And 3 * 3?")
    done = await recorded.enfilade("runs", "list")
    head, newest, oldest = done.text.splitlines()
    assert head.split() == ["ID", "BEGAN", "STATUS", "SECONDS", "STRATEGY", "MODEL", "CONVERSATION", "QUESTION"]
    assert "And 3 * 3?" in newest
    assert "succeeded" in oldest
    assert "harbour" in oldest
    assert [run["question"] for run in await recorded.runs(*HARBOUR)] == ["What is 12 * 7?"]
    assert [run["question"] for run in await recorded.runs("-n", "1")] == ["And 3 * 3?"]
    assert await recorded.runs("--status", "failed") == []
    assert await recorded.runs("--user", "nobody") == []


async def test_a_run_is_shown_exported_and_deleted_by_the_beginning_of_its_id(anywhere: Recorded) -> None:
    await anywhere.run(*WAY)
    (run,) = await anywhere.runs()
    name = run["id"][:6]
    shown = await anywhere.enfilade("runs", "show", name)
    for text in (run["id"], "function-calling (enfilade-fc)", "harbour", "question: What is 12 * 7?", "round 2: demo"):
        assert text in shown.text
    assert '  calculator {"expression":"12 * 7"}, succeeded' in shown.text
    assert "answer: 12 * 7 = 84." in shown.text
    assert "cost unknown" in shown.text
    exported = loaded(await anywhere.enfilade("runs", "export", name))
    assert (exported["enfilade_run"], exported["id"]) == (1, run["id"])
    assert exported["events"]
    deleted = await anywhere.enfilade("runs", "delete", name, "--json")
    assert loaded(deleted) == {"deleted": run["id"]}
    assert await anywhere.runs() == []


async def test_an_export_makes_a_file_of_its_owner_and_writes_over_none(recorded: Recorded) -> None:
    await recorded.run(*WAY)
    (run,) = await recorded.runs()
    words = ("runs", "export", run["id"], "-o", "run.json")
    done = await recorded.enfilade(*words)
    file = recorded.enfilade.folder / "run.json"
    assert (done.code, done.out) == (0, b"")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_text()
    again = await recorded.enfilade(*words)
    assert again.code == 1
    assert "run.json is there already; name a new file, or remove it (code: invalid_params)" in again.err
    assert file.read_text() == before


async def test_store_names_another_place(recorded: Recorded, tmp_path: Path) -> None:
    await recorded.run(*WAY)
    (tmp_path / "enfilade.toml").unlink()
    done = await recorded.enfilade("runs", "list", "--json", "--store", recorded.url)
    assert [run["question"] for run in loaded(done)] == ["What is 12 * 7?"]


@pytest.mark.parametrize("verb", ["show", "export", "delete"])
async def test_a_run_that_there_is_not_is_told_as_text_and_as_json(recorded: Recorded, verb: str) -> None:
    await recorded.run(*WAY)
    done = await recorded.enfilade("runs", verb, "abcdefgh", "--json")
    assert done.code == 1
    assert "no recorded run has an id that begins with 'abcdefgh'; `enfilade runs list` shows them" in done.err
    assert loaded(done)["error"]["code"] == "invalid_params"


@pytest.mark.parametrize("verb", ["show", "export", "delete"])
async def test_where_nothing_was_recorded_no_run_is_found_and_the_store_has_not_failed(
    recorded: Recorded, verb: str
) -> None:
    done = await recorded.enfilade("runs", verb, "abcdefgh", "--json")
    assert done.code == 1
    assert "there are no records yet" in done.err
    assert loaded(done)["error"]["code"] == "invalid_params"


async def test_old_runs_are_deleted_by_date_and_by_age(anywhere: Recorded) -> None:
    await anywhere.run(*WAY)
    await anywhere.run("And 3 * 3?")
    for past in ("30d", "1h", "2001-02-03"):
        done = await anywhere.enfilade("runs", "delete", "--before", past, "--json")
        assert loaded(done) == {"deleted_runs": 0}
    assert len(await anywhere.runs()) == 2
    done = await anywhere.enfilade("runs", "delete", "--before", "9999-01-01T00:00+00:00")
    assert (done.code, done.text.startswith("2 runs that began before 999")) == (0, True)
    assert await anywhere.runs() == []


async def test_where_nothing_was_recorded_nothing_is_deleted(recorded: Recorded) -> None:
    assert loaded(await recorded.enfilade("runs", "delete", "--before", "30d", "--json")) == {"deleted_runs": 0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give ID, the run to delete, or --before"),
        (("3fa9", "--before", "30d"), "and not both"),
        (("--before", "soon"), "--before: expected a date (2026-11-30), a time (2026-11-30T18:00) or an age"),
        (("--before", "999999w"), "got '999999w'"),
    ],
)
async def test_what_is_to_be_deleted_has_to_be_said_clearly(
    enfilade: Enfilade, words: tuple[str, ...], said: str
) -> None:
    done = await enfilade("runs", "delete", *words, "--json")
    assert done.code == 2
    assert said in done.err
    assert loaded(done)["error"]["code"] == "invalid_params"


async def test_too_little_of_an_id_is_refused(recorded: Recorded) -> None:
    await recorded.run(*WAY)
    done = await recorded.enfilade("runs", "show", "ab")
    assert done.code == 1
    assert "give the id, or its first 4 characters" in done.err


@pytest.mark.parametrize(
    ("url", "text", "code"),
    [
        ("mysql://ada:secret@h/x", "must begin with sqlite:///, postgresql+asyncpg://, got the scheme 'mysql'", 2),
        ("sqlite:///nothing.db", "there are no records yet: nothing.db does not exist", 1),
        ("sqlite:///plain.txt", "the file is no SQLite database", 1),
        ("postgresql+asyncpg://ada:secret@127.0.0.1:9/x", "postgresql://ada:***@127.0.0.1:9/x", 1),
    ],
)
async def test_a_place_that_does_not_serve_is_told_without_its_password(
    enfilade: Enfilade, url: str, text: str, code: int
) -> None:
    enfilade.write("plain.txt", "no database, this, and longer than the first few bytes")
    done = await enfilade("runs", "list", "--store", url)
    assert done.code == code
    assert text in done.err
    assert "secret" not in done.err
    assert "Traceback" not in done.err
    assert not (enfilade.folder / "nothing.db").exists()


async def test_a_store_of_another_kind_is_named(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", '[store]\nkind = "paper"\n')
    done = await enfilade("runs", "list")
    assert done.code == 1
    assert "[store] is of the kind 'paper', whose runs this command cannot read" in done.err


def test_the_states_that_can_be_listed_are_all_there_are() -> None:
    assert set(STATES) == {state.value for state in State}
