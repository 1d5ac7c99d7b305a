import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from enfilade.cli.json_line import json_line

_TEXTS = st.text(st.characters())  # lone surrogates among them
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner),
)


def _plain(value: Any) -> Any:
    """What JSON can say of a value."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@given(_VALUES)
def test_every_value_makes_one_line_that_reads_back_the_same(value: Any) -> None:
    line = json_line(value)
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    assert json.loads(line.decode(), parse_constant=lambda name: f"{name} is not JSON") == _plain(value)


def test_text_stays_readable() -> None:
    assert json_line({"tide": "höher ☂"}) == '{"tide":"höher ☂"}\n'.encode()


def test_a_line_is_one_line_to_every_reader() -> None:
    value = {"text": "a\u2028b\u2029c\u0085d\ne"}
    line = json_line(value).decode()
    assert len(line.splitlines()) == 1
    assert json.loads(line) == value
