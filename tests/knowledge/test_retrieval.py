"""What is found, in which order, with which words."""

from itertools import chain
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enfilade.tools.knowledge.fusion import HybridRetriever, K, fused
from enfilade.tools.knowledge.retriever import Passage, Retriever
from enfilade.tools.knowledge.words import WordRetriever
from enfilade_sdk.errors import EnfiladeError
from tests.knowledge.bases import added, found, opened
from tests.knowledge.files import CHINESE, GUIDE, PAGE, pdf_of

FILES = ("guide.md", "zh.md", "page.html", "rules.pdf", "ja.txt", "ko.txt")


@pytest_asyncio.fixture
async def base(tmp_path: Path) -> Path:
    """A knowledge base with documents of each format."""
    (tmp_path / "guide.md").write_text(GUIDE)
    (tmp_path / "zh.md").write_text(CHINESE)
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "rules.pdf").write_bytes(pdf_of("Fees are due at noon.", "Dogs are welcome in the café."))
    (tmp_path / "ja.txt").write_text("灯台は1861年に建てられました。\n\nフェリーは毎時出ます。\n")
    (tmp_path / "ko.txt").write_text("항구의 정박료는 하룻밤에 십사 파운드입니다.\n")
    await added(tmp_path / "docs.db", *(tmp_path / name for name in FILES))
    return tmp_path / "docs.db"


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("What is the fee for mooring?", "guide.md, Harbour guide > Mooring"),
        ("FEES are due", "rules.pdf, page 1"),
        ("dog", "rules.pdf, page 2"),
        ("cafe", "rules.pdf, page 2"),
        ("harbour master", "page.html, Harbour > Staff"),
        ("潮水", "zh.md, 港口指南"),
        ("系泊费是多少", "zh.md, 港口指南"),
        ("费", "zh.md, 港口指南"),
        ("灯台", "ja.txt"),
        ("フェリー", "ja.txt"),
        ("정박료", "ko.txt"),
        ("guide.md tides", "guide.md, Harbour guide > Tides"),
    ],
)
async def test_what_fits_best_stands_first(base: Path, query: str, source: str) -> None:
    best = (await found(base, query))[0]
    assert best.source == source
    assert best.score > 0


@pytest.mark.parametrize("query", ["", "  ", "?!", "xylophone", '"', "水船", "-" * 5000])
async def test_what_fits_nothing_finds_nothing(base: Path, query: str) -> None:
    assert await found(base, query) == []


@pytest.mark.parametrize(
    "query",
    ['fee" OR "', "fee AND", "NOT fee", "fee*", "text:fee", "{text}:fee", "^fee", "NEAR(fee due, 2)", "fee\0due"],
)
async def test_operators_and_quotes_are_words(base: Path, query: str) -> None:
    assert "fee" in (await found(base, query))[0].text.lower()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # nothing is written to it
@given(query=st.text(max_size=40))
async def test_no_query_is_a_fault(base: Path, query: str) -> None:
    await found(base, query)


async def test_passages_say_where_they_stand(base: Path) -> None:
    [passage] = await found(base, "dogs", 1)
    assert (passage.document, passage.position, passage.page) == ("rules.pdf", 2, 2)
    assert passage.path == str(base.parent / "rules.pdf")
    form = passage.resource(1, "docs")
    assert form["content"] == "Dogs are welcome in the café."
    assert (form["position"], form["knowledge"], form["document"], form["part"], form["page"]) == (
        1, "docs", "rules.pdf", 2, 2,
    )  # fmt: skip
    assert form["score"] == round(passage.score, 6)


async def test_frequent_words_help_to_order_what_rare_ones_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("enfilade.tools.knowledge.words.BUDGET", 5)
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text(f"harbour number{number} tables")
    (tmp_path / "a.txt").write_text("zebra tables harbour")
    (tmp_path / "b.txt").write_text("zebra stripes grass")
    await added(tmp_path / "docs.db", tmp_path)
    passages = await found(tmp_path / "docs.db", "zebra harbour tables")
    assert [passage.document for passage in passages] == [f"{tmp_path.name}/a.txt", f"{tmp_path.name}/b.txt"]
    assert len(await found(tmp_path / "docs.db", "harbour tables", 50)) == 21


async def test_one_text_in_several_documents_is_found_once(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"The same words.\n\n# Other\n\nWords of {name}.\n")
    await added(tmp_path / "docs.db", tmp_path)
    texts = [passage.text for passage in await found(tmp_path / "docs.db", "words", 4)]
    assert sorted(texts) == ["The same words.", "Words of a.", "Words of b.", "Words of c."]


async def test_what_is_added_while_it_is_open_is_found(base: Path) -> None:
    retriever = WordRetriever(opened(base))
    assert await retriever.retrieve("walrus", 5) == []
    (base.parent / "new.txt").write_text("a walrus came by")
    await added(base, base.parent / "new.txt")
    assert [passage.document for passage in await retriever.retrieve("walrus", 5)] == ["new.txt"]
    await retriever.aclose()


IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(st.lists(IDS, max_size=4), st.integers(1, 9))
def test_fused_rankings_have_each_passage_once_in_order_of_reciprocal_ranks(
    rankings: list[list[str]], limit: int
) -> None:
    given_ = [[Passage(key, f"text {key}", "doc") for key in ranking] for ranking in rankings]
    best = fused(given_, limit)
    expected = {
        key: sum(1 / (K + ranking.index(key) + 1) for ranking in rankings if key in ranking)
        for key in chain.from_iterable(rankings)
    }
    assert len(best) == min(limit, len(expected))
    assert [passage.score for passage in best] == pytest.approx(sorted(expected.values(), reverse=True)[: len(best)])
    assert all(passage.score == pytest.approx(expected[passage.id]) for passage in best)


class Fixed:
    """A retriever that knows its answer."""

    def __init__(self, keys: str, error: Exception | None = None) -> None:
        self.asked: list[tuple[str, int]] = []
        self.closed = False
        self._keys = keys
        self._error = error

    async def retrieve(self, query: str, limit: int) -> list[Passage]:
        self.asked.append((query, limit))
        if self._error is not None:
            raise self._error
        return [Passage(key, key, "doc") for key in self._keys][:limit]

    async def aclose(self) -> None:
        self.closed = True


async def test_what_both_ways_find_stands_before_what_one_of_them_does() -> None:
    words, vectors = Fixed("abc"), Fixed("dbe")
    hybrid = HybridRetriever([words, vectors])
    assert isinstance(hybrid, Retriever)
    assert isinstance(words, Retriever)
    assert [passage.id for passage in await hybrid.retrieve("q", 3)] == ["b", "a", "d"]
    assert words.asked == vectors.asked == [("q", 12)]
    await hybrid.aclose()
    assert words.closed
    assert vectors.closed


async def test_one_way_that_fails_is_told_and_the_other_one_answers(caplog: pytest.LogCaptureFixture) -> None:
    hybrid = HybridRetriever([Fixed("ab"), Fixed("", EnfiladeError("the endpoint is down"))])
    assert [passage.id for passage in await hybrid.retrieve("q", 3)] == ["a", "b"]
    assert caplog.messages == ["a search goes on without one of its ways: the endpoint is down"]
    with pytest.raises(EnfiladeError, match="down"):
        await HybridRetriever([Fixed("", EnfiladeError("down"))]).retrieve("q", 3)
    with pytest.raises(ZeroDivisionError):
        await HybridRetriever([Fixed("ab"), Fixed("", ZeroDivisionError())]).retrieve("q", 3)
