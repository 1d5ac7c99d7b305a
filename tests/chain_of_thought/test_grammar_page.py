import random

import pytest

from enfilade_cot.labels import CHINESE, ENGLISH
from tests.chain_of_thought.grammar_page import PAGE, Example, examples, told
from tests.chain_of_thought.invariants import Setting, check

TOOLS = ("search", "calc", "delete_note")
EXAMPLES = examples()


def test_every_row_of_the_page_is_an_example() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    others = ("| form", "| event", "| parameter", "| `")
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(others)]
    assert len(EXAMPLES) == len(rows) > 120


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{i} {e.form}" for i, e in enumerate(EXAMPLES)])
def test_the_page_tells_what_the_parser_reads(example: Example) -> None:
    labels = ENGLISH + CHINESE if example.mode == "Chinese" else ENGLISH
    setting = Setting(cut=example.mode == "cut", tools=TOOLS, labels=labels)
    read = told(check(example.reply, random.Random(1), setting))
    expected = example.read
    if not any(word.startswith("dropped") for word in expected):
        read = tuple(word for word in read if not word.startswith("dropped"))
    assert read == expected
