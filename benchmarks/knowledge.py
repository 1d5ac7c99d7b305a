"""Retrieval over a knowledge base of 100,000 parts, as the tool does it.

The words of parts and questions are made up and as frequent as those of a language: the r-th has about the share 1 / r.
A question has some words of one part, and others as they come, the most frequent among them.

`python -m benchmarks.knowledge`
"""

import asyncio
import random
import tempfile
import time
from itertools import accumulate, islice, product
from pathlib import Path

from benchmarks.figure import HEADER, Figure, middle, milliseconds
from enfilade.tools.knowledge.documents import Document, put
from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.retriever import Retriever
from enfilade.tools.knowledge.splitting import Part
from enfilade.tools.knowledge.words import WordRetriever

PARTS = 100_000
PARTS_A_DOCUMENT = 50
WORDS_A_PART = 150
QUESTIONS = 200
AIM = 0.020

_SYLLABLES = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "le",
    "mi",
    "no",
    "pu",
    "ra",
    "se",
    "ti",
    "vo",
    "wa",
    "xe",
    "yi",
    "zo",
)


class Language:
    """Makes texts; the same ones every time."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        longer = ("".join(syllables) for length in (1, 2, 3, 4) for syllables in product(_SYLLABLES, repeat=length))
        self.words = list(islice(longer, 50_000))
        self._shares = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))

    def text(self, count: int) -> str:
        """So many words."""
        return " ".join(self.random.choices(self.words, cum_weights=self._shares, k=count))


async def knowledge() -> list[Figure]:
    """Asks one question after the other."""
    language = Language()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.db"
        began = time.perf_counter()
        questions = _filled(file, language)
        filled = time.perf_counter() - began
        index = Index.open("large", file)
        assert index is not None
        retriever = WordRetriever(index)
        try:
            spent = time.process_time()
            seconds = await _asked(retriever, questions)
            spent = time.process_time() - spent
        finally:
            await retriever.aclose()
    seconds.sort()
    found = middle(seconds)
    return [
        Figure(
            f"a search over {PARTS:,} parts",
            milliseconds(found),
            target=f"{AIM * 1e3:.0f} ms or less",
            met=found <= AIM,
        ),
        Figure("processor's time of such a search", milliseconds(spent / len(seconds))),
        Figure("the slowest of twenty such searches", milliseconds(seconds[len(seconds) * 19 // 20])),
        Figure("parts taken into the index", f"{PARTS / filled:,.0f}/s"),
    ]


def _filled(file: Path, language: Language) -> list[str]:
    """Fills a knowledge base; gives questions to ask of it."""
    questions: list[str] = []
    index = Index.make("large", file)
    try:
        with index.writing() as connection:
            for number in range(PARTS // PARTS_A_DOCUMENT):
                parts = [Part(language.text(WORDS_A_PART), language.text(3)) for _ in range(PARTS_A_DOCUMENT)]
                put(connection, _document(number), parts)
                if number % (PARTS // PARTS_A_DOCUMENT // QUESTIONS) == 0:
                    some = language.random.sample(parts[0].text.split(), 3)
                    questions.append(f"{language.text(5)} {' '.join(some)}")
    finally:
        index.close()
    return questions


def _document(number: int) -> Document:
    name = f"document{number}.txt"
    return Document(0, f"/{name}", name, "text", 0, "", "", "", 0, 0)


async def _asked(retriever: Retriever, questions: list[str]) -> list[float]:
    seconds = []
    for question in questions:
        began = time.perf_counter()
        passages = await retriever.retrieve(question, 5)
        seconds.append(time.perf_counter() - began)
        assert passages
    return seconds


if __name__ == "__main__":
    print(HEADER)
    for figure in asyncio.run(knowledge()):
        print(figure.row())
