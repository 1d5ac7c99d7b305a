"""Words of texts and queries."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.tools.knowledge.segmentation import segmented, terms_of


def test_chinese_japanese_and_korean_are_cut_into_pairs() -> None:
    assert segmented("潮水表 at 06:10").split() == ["潮水", "水表", "表", "at", "06:10"]
    assert segmented("ガイド").split() == ["ガイ", "イド", "ド"]
    assert segmented("항구안내").split() == ["항구", "구안", "안내", "내"]


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What are the mooring fees?", ['"mooring"', '"fees"']),
        ("What is this?", ['"what"', '"is"', '"this"']),
        ("潮水", ['"潮水"']),
        ("潮水表", ['"潮水"', '"水表"']),
        ("水", ['"水" *']),
        ("Oban的潮水", ['"oban"', '"的潮"', '"潮水"']),
        ("\uff2f\uff22\uff21\uff2e", ['"oban"']),
        ('fees" OR NEAR(x) text:* - ^ { } + "', ['"fees"', '"near"', '"x"', '"text"']),
        ("read_file", ['"read_file"']),
        ("?!  ...", []),
        ("fee fee FEE", ['"fee"']),
    ],
)
def test_a_query_comes_to_terms(query: str, terms: list[str]) -> None:
    assert terms_of(query) == terms


def test_a_long_query_has_a_bounded_number_of_terms() -> None:
    assert len(terms_of(" ".join(f"word{number}" for number in range(10_000)))) == 24
    assert len(terms_of("潮水表" * 10_000)) <= 24


@given(st.text(max_size=80))
def test_any_query_is_one_that_the_index_takes(query: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    for term in terms_of(query):
        connection.execute("SELECT 1 FROM words WHERE words MATCH ?", (term,)).fetchall()
    connection.close()


@given(st.text(alphabet=st.sampled_from("潮水表费船ab "), min_size=1, max_size=30))
def test_whatever_stands_in_a_text_is_found_in_it(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    connection.execute("INSERT INTO words VALUES (?)", (segmented(text),))
    for term in terms_of(text):
        assert connection.execute("SELECT 1 FROM words WHERE words MATCH ?", (term,)).fetchall(), term
    connection.close()
