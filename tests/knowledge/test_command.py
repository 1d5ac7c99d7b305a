"""`enfilade knowledge`, typed."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.knowledge.bases import content
from tests.knowledge.embedding_server import embedding_server
from tests.support.enfilade_command import Enfilade
from tests.support.terminal import terminal


def error(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)["error"]
    return found


@pytest.mark.timeout(240)
async def test_from_documents_to_an_answer(enfilade: Enfilade) -> None:
    done = await enfilade("knowledge", "add", "docs", "docs", "-d", "All about the harbour.")
    assert (done.code, done.err) == (0, "")
    assert done.text == "docs: 4 added; it has 4 documents in 7 parts\n"
    again = await enfilade("knowledge", "add", "docs", "docs/guide.md", "docs")
    assert again.text == "docs: 4 unchanged; it has 4 documents in 7 parts\n"
    listed = await enfilade("knowledge", "list")
    assert listed.text.splitlines()[1].split(None, 4) == ["docs", "4", "7", "words", "All about the harbour."]
    shown = await enfilade("knowledge", "show", "docs")
    assert "docs/rules.pdf  pdf       1" in shown.text
    searched = await enfilade("knowledge", "search", "docs", "潮水", "-n", "1")
    assert searched.text.startswith("[1] docs/zh.md, 港口指南 (score ")
    answered = await enfilade("run", "What is the mooring fee?", "-t", "knowledge:docs")
    assert "The mooring fee is 14 pounds a night." in answered.text
    assert "Source: [1] docs/guide.md, Harbour guide > Mooring" in answered.text
    assert "sources: docs/guide.md" in answered.err
    thought = await enfilade("run", "Are dogs welcome?", "-t", "knowledge:docs", "-s", "chain-of-thought", "--json")
    assert "Dogs are welcome.\n\nSource: [1] docs/rules.pdf, page 1" in thought.outcome["answer"]
    assert thought.outcome["retriever_resources"][0]["page"] == 1
    removed = await enfilade("knowledge", "remove", "docs", "docs/guide.md")
    assert removed.text == "docs: 1 removed; it has 3 documents\n"
    assert (await enfilade("knowledge", "search", "docs", "mooring")).err == "nothing in docs fits the query\n"
    assert (await enfilade("knowledge", "remove", "docs")).text == "docs is removed\n"
    assert "there is no knowledge base yet" in (await enfilade("knowledge", "list")).err


@pytest.mark.timeout(180)
async def test_each_command_speaks_json(enfilade: Enfilade, base: Path) -> None:
    (enfilade.folder / "docs" / "bad.pdf").write_bytes(b"%PDF-")
    done = await enfilade("knowledge", "add", "docs", "docs", "--json")
    added = json.loads(done.text)
    assert added["added"] == ["docs/guide.md", "docs/page.html", "docs/rules.pdf", "docs/zh.md"]
    assert (added["knowledge"], added["documents"], added["parts"], added["replaced"]) == ("docs", 4, 7, [])
    assert list(added["skipped"]) == [str(enfilade.folder / "docs" / "bad.pdf")]
    assert done.err.startswith("warning: left out: docs/bad.pdf is damaged")
    [listed] = json.loads((await enfilade("knowledge", "list", "--json")).text)
    assert listed == {
        "name": "docs", "file": str(base), "retriever": "words", "error": None, "documents": 4, "parts": 7,
        "description": None,
    }  # fmt: skip
    shown = json.loads((await enfilade("knowledge", "show", "docs", "--json")).text)
    assert [document["format"] for document in shown["documents"]] == ["markdown", "html", "pdf", "markdown"]
    [found] = json.loads((await enfilade("knowledge", "search", "docs", "dogs", "--json")).text)
    assert (found["position"], found["document"], found["page"], found["content"]) == (
        1, "docs/rules.pdf", 1, "Dogs are welcome.",
    )  # fmt: skip
    assert found["path"] == str(enfilade.folder / "docs" / "rules.pdf")
    removed = json.loads((await enfilade("knowledge", "remove", "docs", "docs/zh.md", "--json")).text)
    assert removed == {"knowledge": "docs", "removed": ["docs/zh.md"], "documents": 3}
    removed = json.loads((await enfilade("knowledge", "remove", "docs", "--json")).text)
    assert (len(removed["removed"]), removed["documents"]) == (3, None)
    assert list(base.parent.iterdir()) == []
    assert json.loads((await enfilade("knowledge", "list", "--json")).text) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "docs", "no.md"), "there is no file or folder 'no.md'"),
        (("add", "docs", "big.txt"), "big.txt has 200,000,000 bytes, above the limit of 67,108,864"),
        (("add", "docs", "latin.txt"), "latin.txt is not UTF-8: byte 0xe4 in line 1"),
        (("add", "docs", "chart.png"), "chart.png is no text (image/png"),
        (("add", "docs", "empty.txt"), "empty.txt is empty"),
        (("add", "../docs", "docs"), "a knowledge base cannot be named '../docs'"),
        (("show", "docs"), "there is no knowledge base 'docs'. There is none yet."),
        (("search", "docs", "x"), "there is no knowledge base 'docs'"),
        (("remove", "docs"), "there is no knowledge base 'docs'"),
    ],
)
async def test_what_cannot_be_done_is_told_once_as_json_too(
    enfilade: Enfilade, base: Path, words: tuple[str, ...], said: str
) -> None:
    (enfilade.folder / "latin.txt").write_bytes(b"F\xe4hre")
    (enfilade.folder / "chart.png").write_bytes(b"\x89PNG\0")
    (enfilade.folder / "empty.txt").write_bytes(b"")
    with (enfilade.folder / "big.txt").open("wb") as file:
        file.truncate(200_000_000)
    done = await enfilade("knowledge", *words, "--json")
    assert done.code == 1
    assert done.err.startswith(f"error: {said}")
    assert error(done.text)["message"].startswith(said)
    assert "Traceback" not in done.err
    assert not base.exists()  # noqa: ASYNC240


async def test_documents_whose_files_are_gone_are_taken_out_on_demand(enfilade: Enfilade) -> None:
    await enfilade("knowledge", "add", "docs", "docs")
    for name in ("guide.md", "zh.md", "page.html", "rules.pdf"):
        (enfilade.folder / "docs" / name).unlink()
    assert "the folder docs holds no document" in (await enfilade("knowledge", "add", "docs", "docs")).err
    done = await enfilade("knowledge", "add", "docs", "docs", "--prune")
    assert done.text == "docs: 4 removed; it has 0 documents in 0 parts\n"
    assert (await enfilade("knowledge", "search", "docs", "dogs")).err == "nothing in docs fits the query\n"


async def test_an_empty_query_is_a_fault_of_the_command_line(enfilade: Enfilade) -> None:
    await enfilade("knowledge", "add", "docs", "docs")
    done = await enfilade("knowledge", "search", "docs", " ")
    assert (done.code, done.err) == (
        2,
        "error: the query is empty; expected a question, or words to look for (code: invalid_params)\n",
    )


async def test_a_bar_shows_how_far_it_is_on_a_terminal(enfilade: Enfilade) -> None:
    words = [str(word) for word in enfilade.command(("knowledge", "add", "docs", "docs"))]
    async with terminal(words, enfilade.variables(), enfilade.folder) as screen:
        assert await screen.exit_code() == 0
        assert "[------------------------] 0/4 docs/guide.md" in screen.raw
        assert "[############------------] 2/4 docs/rules.pdf" in screen.raw
        assert screen.text == "docs: 4 added; it has 4 documents in 7 parts\n"


INTERRUPTED = """
import sys, threading
from enfilade.cli import loop_thread, main
from enfilade.cli.knowledge import progress
heard, cancel = threading.Event(), loop_thread.Job.cancel
def cancelled(self):
    cancel(self)
    heard.set()
def tell(self, done, total, name):
    if done == total // 2:
        print("half", file=sys.stderr, flush=True)
        assert heard.wait(30)
loop_thread.Job.cancel = cancelled
progress.FileProgress.__call__ = tell
sys.exit(main())
"""
"""The command, which stops when half of the files are in until a signal has come."""


async def test_ctrl_c_leaves_everything_as_it_was(enfilade: Enfilade, base: Path) -> None:
    await enfilade("knowledge", "add", "docs", "docs")
    before = content(base)
    for number in range(20):
        enfilade.write(f"more/{number:03}.md", f"# Page {number}\n\n" + "word " * 2_000)
    enfilade.program = (sys.executable, "-c", INTERRUPTED)
    async with enfilade.running("knowledge", "add", "docs", "more") as running:
        await running.until(lambda: "half" in running.err)
        running.signal(signal.SIGINT)
        done = await running.finished()
    assert done.code == 130
    assert done.err == "half\ninterrupted; nothing was changed\n"
    assert content(base) == before


@pytest.mark.timeout(180)
async def test_the_configuration_says_where_and_how(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", '[knowledge.docs]\nfile = "kept/d.db"\nresults = 1\ndescription = "Rules."\n')
    assert (await enfilade("knowledge", "add", "docs", "docs")).code == 0
    assert (enfilade.folder / "kept" / "d.db").is_file()
    assert len(json.loads((await enfilade("knowledge", "search", "docs", "harbour", "--json")).text)) == 1
    tools = json.loads((await enfilade("tools", "--json")).text)
    [listed] = [tool for tool in tools if tool["name"] == "knowledge:docs"]
    assert (listed["origin"], listed["description"]) == ("configuration", "searches a knowledge base: Rules.")
    assert any(tool["name"] == "knowledge:NAME" for tool in tools)
    enfilade.write("enfilade.toml", '[knowledge.docs]\nretriever = "vectors"\n')
    done = await enfilade("knowledge", "list")
    assert "knowledge.docs: retriever = 'vectors' needs an endpoint" in done.err


@pytest.mark.timeout(240)
async def test_vectors_of_an_endpoint_serve_the_commands_and_the_agent(enfilade: Enfilade) -> None:
    with embedding_server() as server:
        enfilade.write(
            "enfilade.toml",
            f'[knowledge.docs.embedding]\nmodel = "near"\nbase_url = "{server.base_url}"\napi_key_env = "MY_KEY"\n',
        )
        missing = await enfilade("knowledge", "add", "docs", "docs", "--json")
        assert error(missing.text)["details"] == {"reason": "embedding"}
        assert "the environment variable MY_KEY, which should hold the embedding endpoint's" in missing.err
        enfilade.environment["MY_KEY"] = "key-1234567"
        assert (await enfilade("knowledge", "add", "docs", "docs")).code == 0
        searched = await enfilade("knowledge", "search", "docs", "How much money does a beast cost?")
        assert searched.text.startswith("[1] docs/guide.md, Harbour guide > Mooring")
        answered = await enfilade("run", "How much money does it cost?", "-t", "knowledge:docs")
        assert "The mooring fee is 14 pounds a night." in answered.text
        assert server.texts[-1] == "How much money does it cost"
    assert "hybrid" in (await enfilade("knowledge", "list")).text
    alone = await enfilade("knowledge", "search", "docs", "dogs")
    assert alone.text.startswith("[1] docs/rules.pdf, page 1")
    assert "warning: a search goes on without one of its ways: the embedding endpoint" in alone.err
    assert "key-1234567" not in alone.err + alone.text


@contextmanager
def read_only(file: Path) -> Iterator[None]:
    """Neither the file nor its folder may be written."""
    file.chmod(0o444)
    file.parent.chmod(0o555)
    yield
    file.parent.chmod(0o755)


@pytest.mark.timeout(180)
async def test_a_base_that_can_only_be_read_can_be_searched_and_not_changed(enfilade: Enfilade, base: Path) -> None:
    await enfilade("knowledge", "add", "docs", "docs")
    if os.geteuid() == 0:  # root may write all the same, unless it is told not to
        enfilade.program = ("setpriv", "--bounding-set", "-all", *enfilade.program)
    with read_only(base):
        searched = await enfilade("knowledge", "search", "docs", "dogs")
        changed = await enfilade("knowledge", "add", "docs", "docs/guide.md", "docs/zh.md", "-d", "new")
        removed = await enfilade("knowledge", "remove", "docs")
    assert searched.text.startswith("[1] docs/rules.pdf, page 1")
    for done in (changed, removed):
        assert done.code == 1
        assert "it is read-only; make the file and its folder writable" in done.err


async def test_one_that_cannot_be_opened_is_told_and_the_others_are_listed(enfilade: Enfilade, base: Path) -> None:
    await enfilade("knowledge", "add", "docs", "docs")
    base.with_name("broken.db").write_text("nothing of the kind" * 100)
    done = await enfilade("knowledge", "list")
    assert done.code == 0
    assert "warning: the knowledge base 'broken' (" in done.err
    assert [line.split()[0] for line in done.text.splitlines()] == ["NAME", "docs"]
