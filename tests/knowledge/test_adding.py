"""Documents taken in, replaced, taken out; all or nothing."""

import os
import resource
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from enfilade.tools.knowledge.documents import documents_of
from enfilade.tools.knowledge.failure import DocumentFault, KnowledgeError, KnowledgeNotFoundError, Reason
from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.removing import remove_documents
from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade_sdk.errors import InvalidParamsError
from tests.knowledge.bases import added, content, found, opened
from tests.knowledge.files import CHINESE, GUIDE, PAGE, pdf_of


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of documents, and things that are none."""
    folder = tmp_path / "docs"
    (folder / "more").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "guide.md").write_text(GUIDE)
    (folder / "more" / "page.html").write_text(PAGE)
    (folder / "more" / "rules.pdf").write_bytes(pdf_of("Dogs are welcome."))
    (folder / ".hidden" / "secret.md").write_text("# Secret\n")
    (folder / "tides.csv").write_text("no,document\n")
    return folder


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Where the knowledge base is made."""
    return tmp_path / "data" / "docs.db"


def names(base: Path) -> list[str]:
    """What the documents are called."""
    index = opened(base)
    try:
        return [document.name for document in documents_of(index)]
    finally:
        index.close()


def there(base: Path) -> list[str]:
    """The files of the base's folder."""
    return [path.name for path in base.parent.glob("*")]


async def test_a_folder_is_taken_in_with_the_documents_below_it(docs: Path, base: Path) -> None:
    changes = await added(base, docs)
    assert changes.added == ["docs/guide.md", "docs/more/page.html", "docs/more/rules.pdf"]
    assert (changes.documents, changes.parts) == (3, 6)
    assert (changes.replaced, changes.unchanged, changes.removed, changes.skipped) == ([], [], [], {})


async def test_adding_twice_changes_nothing(docs: Path, base: Path) -> None:
    await added(base, docs)
    before = content(base)
    changes = await added(base, docs, docs / "guide.md", docs / ".." / "docs")
    assert sorted(changes.unchanged) == ["docs/guide.md", "docs/more/page.html", "docs/more/rules.pdf"]
    assert changes.added == changes.replaced == []
    assert content(base) == before


async def test_a_changed_file_replaces_its_parts_and_no_others(docs: Path, base: Path) -> None:
    await added(base, docs)
    (docs / "guide.md").write_text("# Harbour guide\n\nThe mooring fee is 20 euros.\n")
    changes = await added(base, docs)
    assert (changes.replaced, len(changes.unchanged), changes.parts) == (["docs/guide.md"], 2, 4)
    [fee] = await found(base, "mooring fee")
    assert fee.text == "The mooring fee is 20 euros."
    assert await found(base, "Oban") == []
    assert len(await found(base, "lighthouse")) == 1


async def test_other_sizes_of_parts_make_the_parts_anew(docs: Path, base: Path) -> None:
    (docs / "guide.md").write_text("word " * 200)
    assert (await added(base, docs / "guide.md")).parts == 1
    changes = await added(base, docs / "guide.md", settings=KnowledgeSettings(part_characters=200))
    assert (changes.replaced, changes.parts) == (["guide.md"], 5)


async def test_files_of_any_name_are_text_where_they_are_named(docs: Path, base: Path) -> None:
    assert (await added(base, docs / "tides.csv")).added == ["tides.csv"]


async def test_a_named_file_that_cannot_be_read_leaves_everything_as_it_was(docs: Path, base: Path) -> None:
    await added(base, docs / "guide.md")
    before = content(base)
    (docs / "guide.md").write_text("changed")
    (docs / "chart.bin").write_bytes(b"\0\1")
    (docs / "empty.txt").write_bytes(b"")
    with pytest.raises(DocumentFault) as caught:
        await added(base, docs / "guide.md", docs / "chart.bin", docs / "more", docs / "empty.txt")
    assert caught.value.message == (
        "2 files cannot be taken in:"
        "\n  - chart.bin is no text (application/octet-stream, 2 bytes); expected text, Markdown, HTML or PDF"
        "\n  - empty.txt is empty; there is nothing to find in it"
    )
    assert content(base) == before


async def test_a_file_of_a_folder_that_cannot_be_read_is_left_out_and_told(docs: Path, base: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    changes = await added(base, docs)
    assert len(changes.added) == 3
    assert list(changes.skipped) == [str(docs / "broken.pdf")]
    (docs / "guide.md").write_bytes(b"\xff\0")  # what it held before stays
    assert set((await added(base, docs)).skipped) == {str(docs / "broken.pdf"), str(docs / "guide.md")}
    assert len(await found(base, "mooring fee")) == 1


async def test_a_folder_of_which_nothing_can_be_read_is_a_fault(tmp_path: Path, base: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"")
    with pytest.raises(DocumentFault, match=r"a\.md is empty"):
        await added(base, tmp_path)


async def test_missing_paths_are_told_all_at_once_with_near_matches(docs: Path, base: Path) -> None:
    with pytest.raises(DocumentFault) as caught:
        await added(base, docs / "giude.md", docs / "nowhere" / "x.md", docs / ".hidden" / "..", docs / "a\0b")
    lines = caught.value.message.splitlines()
    assert lines[0] == "3 files cannot be taken in:"
    assert lines[1].endswith("giude.md'. Did you mean 'guide.md'?")
    assert lines[2].endswith("x.md'; its folder is not there either")
    (docs / "bare").mkdir()
    with pytest.raises(DocumentFault, match="bare holds no document"):
        await added(base, docs / "bare")
    assert there(base) == []


async def test_a_name_that_is_not_utf_8_is_told(docs: Path, base: Path) -> None:
    (docs / os.fsdecode(b"f\xe4hre.md")).write_text("x")
    with pytest.raises(DocumentFault, match="is not UTF-8; give it another one"):
        await added(base, docs)


async def test_documents_whose_files_are_gone_are_taken_out_on_demand(docs: Path, base: Path) -> None:
    await added(base, docs)
    (docs / "guide.md").unlink()
    assert (await added(base, docs)).documents == 3
    changes = await added(base, docs, prune=[docs])
    assert (changes.removed, changes.documents) == (["docs/guide.md"], 2)
    assert await found(base, "mooring") == []


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_nobody_else_may_read_it(docs: Path, base: Path) -> None:
    await added(base, docs)
    assert [mode_of(place) for place in (base.parent, base)] == [0o700, 0o600]


async def remove(base: Path, *paths: Path | str) -> list[str]:
    index = Index.make("docs", base, patience=0.1)
    try:
        return remove_documents(index, [str(path) for path in paths], base.parent.parent)
    finally:
        index.close()


async def test_documents_are_taken_out_by_path_folder_and_name(docs: Path, base: Path) -> None:
    await added(base, docs)
    (docs / "guide.md").unlink()
    assert await remove(base, docs / "guide.md") == ["docs/guide.md"]
    assert await found(base, "mooring") == []
    assert sorted(await remove(base, "docs/more/page.html", docs / "more")) == [
        "docs/more/page.html",
        "docs/more/rules.pdf",
    ]
    assert content(base) == []


async def test_what_is_not_there_is_told_with_near_matches_and_nothing_is_taken_out(docs: Path, base: Path) -> None:
    await added(base, docs)
    with pytest.raises(KnowledgeNotFoundError) as caught:
        await remove(base, "docs/more", "docs/giude.md")
    assert caught.value.message == (
        "the knowledge base 'docs' has no document 'docs/giude.md'. Did you mean 'docs/guide.md'?"
    )
    assert len(names(base)) == 3


async def test_a_name_of_two_documents_is_not_guessed(docs: Path, base: Path) -> None:
    (docs / "more" / "guide.md").write_text(CHINESE)
    await added(base, docs / "guide.md", docs / "more" / "guide.md")
    with pytest.raises(InvalidParamsError, match=r"is the name of several documents; give a path: .* and "):
        await remove(base, "guide.md")
    assert await remove(base, docs / "guide.md") == ["guide.md"]


async def test_a_base_that_somebody_writes_to_is_told(docs: Path, base: Path) -> None:
    await added(base, docs)
    other = sqlite3.connect(base, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    (docs / "guide.md").write_text("changed")
    try:
        with pytest.raises(KnowledgeError) as caught:
            await added(base, docs)
        assert len(await found(base, "mooring")) == 1  # and it can be searched meanwhile
    finally:
        other.close()
    assert caught.value.reason is Reason.LOCKED
    assert caught.value.message == (
        f"the knowledge base 'docs' ({base}) cannot be used: another program is writing to it; "
        "wait until that is done, then try again"
    )


def refusals(base: Path) -> list[str]:
    """What is said when it is opened for reading, and when for writing."""
    with pytest.raises(KnowledgeError) as reading:
        Index.open("docs", base)
    with pytest.raises(KnowledgeError) as writing:
        Index.make("docs", base)
    return [reading.value.message, writing.value.message]


async def test_a_base_of_a_newer_schema_is_told(docs: Path, base: Path) -> None:
    await added(base, docs)
    connection = sqlite3.connect(base)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    for said in refusals(base):
        assert said.endswith("was made by a newer Enfilade (schema 99; this one knows 1); update Enfilade")


def test_another_kind_of_file_is_left_alone(base: Path) -> None:
    base.parent.mkdir()
    base.write_text("not a database at all, but a text that somebody wrote" * 10)
    for said in refusals(base):
        assert said.endswith("the file is no knowledge base")
    base.unlink()
    connection = sqlite3.connect(base)
    connection.execute("CREATE TABLE precious (x)")
    connection.close()
    for said in refusals(base):
        assert said.endswith("is a database of something else; name another file")


def damage(file: Path) -> None:
    with file.open("r+b") as opened_file:
        opened_file.seek(4096)
        opened_file.write(b"\xa5" * (file.stat().st_size - 4096))


async def test_a_damaged_base_is_told(docs: Path, base: Path) -> None:
    (docs / "guide.md").write_text("\n\n".join(f"paragraph {n} {'x' * 500}" for n in range(200)))
    await added(base, docs)
    damage(base)
    with pytest.raises(KnowledgeError) as caught:
        await found(base, "paragraph")
    assert caught.value.reason is Reason.DAMAGED


@contextmanager
def full_disk(file: Path) -> Iterator[None]:
    """No file of this process may grow beyond what the base has now."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_full_disk_leaves_everything_as_it_was(docs: Path, base: Path) -> None:
    await added(base, docs)
    before = content(base)
    (docs / "long.txt").write_text("\n\n".join(f"paragraph {n} {'x ' * 500}" for n in range(300)))
    with full_disk(base), pytest.raises(KnowledgeError) as caught:
        await added(base, docs)
    assert caught.value.reason is Reason.FULL
    assert content(base) == before


async def test_whoever_waits_to_write_to_a_removed_base_is_told(docs: Path, base: Path) -> None:
    await added(base, docs)
    first, second = Index.make("docs", base), Index.make("docs", base)
    first.remove()
    assert there(base) == []
    with pytest.raises(KnowledgeError, match="was removed by another program meanwhile; try again"), second.writing():
        pass
    first.close()
    second.close()
    assert Index.open("docs", base) is None
    assert (await added(base, docs)).documents == 3


def test_a_file_in_which_nothing_was_made_is_no_base(base: Path) -> None:
    index = Index.make("docs", base)
    assert Index.open("docs", base) is None
    index.remove(if_empty=True)
    index.close()
    assert not base.exists()


async def test_a_base_with_documents_is_not_taken_for_empty(docs: Path, base: Path) -> None:
    await added(base, docs)
    index = Index.make("docs", base)
    index.remove(if_empty=True)
    index.close()
    assert len(names(base)) == 3
