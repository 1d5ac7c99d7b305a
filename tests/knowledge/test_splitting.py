"""From blocks to parts."""

import time

from hypothesis import given
from hypothesis import strategies as st

from enfilade.tools.knowledge.block import Block
from enfilade.tools.knowledge.splitting import Part, parts_of

TEXTS = st.text(alphabet=st.sampled_from("ab .!\n水。"), min_size=1, max_size=300).filter(str.strip)
BLOCKS = st.lists(st.builds(Block, TEXTS, st.sampled_from(["", "A", "A > B"]), st.sampled_from([None, 1, 2])))


@given(BLOCKS, st.integers(5, 120))
def test_parts_are_no_longer_than_asked_and_lose_nothing(blocks: list[Block], size: int) -> None:
    parts = parts_of(blocks, size)
    assert all(0 < len(part.text) <= size and part.text.strip() for part in parts)
    assert "".join("".join(part.text.split()) for part in parts) == "".join("".join(b.text.split()) for b in blocks)


def test_what_stands_under_one_heading_fills_a_part() -> None:
    blocks = [Block("one", "A"), Block("two", "A"), Block("three", "B"), Block("four", "B", 2), Block("x" * 30, "B", 2)]
    assert parts_of(blocks, 30) == [
        Part("one\n\ntwo", "A"),
        Part("three", "B"),
        Part("four", "B", 2),
        Part("x" * 30, "B", 2),
    ]


def test_a_long_block_is_cut_where_a_paragraph_a_line_a_sentence_or_a_word_ends() -> None:
    assert [p.text for p in parts_of([Block("The first. The second one. The third")], 30)] == [
        "The first. The second one.",
        "The third",
    ]
    assert [p.text for p in parts_of([Block("a first line\nb c d e f g h")], 20)] == ["a first line", "b c d e f g h"]
    assert [p.text for p in parts_of([Block("潮水在早上最高。系泊费为每晚十四英镑。")], 12)] == [
        "潮水在早上最高。",
        "系泊费为每晚十四英镑。",
    ]
    assert [len(p.text) for p in parts_of([Block("x" * 45)], 20)] == [20, 20, 5]


def test_splitting_takes_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        began = time.process_time()
        parts_of([Block("word " * count)], 1000)
        return time.process_time() - began

    seconds(1000)
    assert seconds(400_000) < 60 * max(seconds(20_000), 0.002)
