"""Whatever was added, changed and taken out: a knowledge base is as one that was made at once."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.removing import remove_documents
from tests.knowledge.bases import added, opened

NAMES = st.sampled_from(["a.md", "b.md", "c.txt"])
TEXTS = st.sampled_from(["# A\n\none\n", "# A\n\none\n\n# B\n\ntwo\n", "\u6f6e\u6c34 three", "four\n\n" * 200])
STEPS = st.lists(st.tuples(NAMES, st.one_of(st.none(), TEXTS)), max_size=8)


@settings(max_examples=30)
@given(STEPS)
def test_a_base_is_what_its_documents_are_and_not_how_they_came(steps: list[tuple[str, str | None]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, grown, fresh = Path(place, "docs"), Path(place, "grown.db"), Path(place, "fresh.db")
        folder.mkdir()
        (folder / "z.txt").write_text("always there")
        add(grown, folder / "z.txt")
        for name, text in steps:
            take(grown, folder / name, text)
        add(fresh, folder)
        assert summary(grown) == summary(fresh)


def add(base: Path, path: Path) -> None:
    asyncio.run(added(base, path))


def take(base: Path, file: Path, text: str | None) -> None:
    """Adds the file with this text; without one takes it out."""
    if text is not None:
        file.write_text(text)
        add(base, file)
    elif file.exists():
        file.unlink()
        index = Index.make("docs", base)
        remove_documents(index, [str(file)], file.parent)
        index.close()


def summary(base: Path) -> list[tuple[object, ...]]:
    """All that is in a base, save numbers, times, and what documents are called; its index is sound."""
    index = opened(base)
    parts = index.rows(
        "SELECT path, documents.parts, position, parts.heading, parts.text, words.text, words.heading FROM parts "
        "JOIN documents ON documents.id = document JOIN words ON words.rowid = parts.id ORDER BY path, position"
    )
    counts = index.rows("SELECT (SELECT count(*) FROM parts), (SELECT count(*) FROM words)")
    index.close()
    writing = Index.make("docs", base)
    with writing.writing() as connection:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    writing.close()
    assert counts == [(len(parts), len(parts))]
    return [tuple(part) for part in parts]
