import string
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from enfilade.environments.tail import KEPT_LINES, LINE_LIMIT, Tail, presentable


def fed(*pieces: bytes) -> tuple[str, ...]:
    tail = Tail()
    for piece in pieces:
        tail.feed(piece)
    tail.close()
    return tail.lines


def test_whole_lines_are_told_as_they_come() -> None:
    heard: list[str] = []
    tail = Tail(heard.append)
    tail.feed(b"one\ntw")
    assert heard == ["one"]
    tail.feed(b"o\n\n\rthree")
    tail.close()
    assert heard == ["one", "two", "three"]


def test_only_the_last_lines_are_kept_and_long_ones_cut() -> None:
    lines = fed(*(b"%d\n" % number for number in range(100)), b"x" * 100_000)
    assert len(lines) == KEPT_LINES
    assert lines[-2:] == ("99", "x" * LINE_LIMIT)


def test_control_characters_and_colours_are_not_shown() -> None:
    assert presentable("\x1b[31mred\x1b[0m \x07bell \x1b]0;title\x07") == "red ?bell ?]0;title?"
    assert fed(b"\xff\xfe broken") == ("\\xff\\xfe broken",)


def test_a_line_cut_within_an_address_does_not_show_the_beginning_of_its_password() -> None:
    line = "x" * (LINE_LIMIT - 20) + " https://user:passwordpassword@host/"
    assert "user" not in presentable(line)


@given(
    st.text(string.ascii_letters + string.digits + ":%-._~!$", min_size=1, max_size=30),
    st.text(" abc:/\n", max_size=20),
)
def test_no_user_and_password_of_an_address_is_shown(secret: str, before: str) -> None:
    lines = fed(f"{before} see https://{secret}@example.invalid/simple for more".encode())
    assert f"{secret}@" not in "\n".join(lines).replace("***@", "")
    assert "https://***@example.invalid/simple" in lines[-1]


@given(st.text(), st.lists(st.integers(0, 100), max_size=5))
def test_it_does_not_matter_in_which_pieces_output_comes(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "replace")
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(edges)]
    assert fed(*pieces) == fed(data)
