import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.cli.visible import in_one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text\n\tnext", "plain text\n\tnext"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\rb"),
        ("a\r\nb", "a\nb"),
        ("\x9b2J", "\\x9b2J"),
        ("\u202eevil", "\\u202eevil"),
        ("bell\x07 nul\x00", "bell\\x07 nul\\x00"),
    ],
)
def test_control_characters_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(), st.integers(min_value=10, max_value=200))
def test_one_line_is_one_line_of_at_most_the_width(text: str, width: int) -> None:
    line = in_one_line(text, width)
    assert len(line) <= width
    assert len(line.splitlines()) <= 1
    assert visible(line) == line


def test_what_was_cut_is_marked() -> None:
    assert in_one_line("word " * 100, 20) == "word word word wo..."
    assert in_one_line("two\n\n lines", 20) == "two lines"
    assert in_one_line(" " * 1000 + "late", 20) == "..."
