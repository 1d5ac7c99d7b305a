"""Blobs in parts: nothing they say of themselves is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.blobs import OPEN_BLOBS, BlobJoiner
from enfilade_sdk.errors import LimitExceededError, ProtocolError
from enfilade_sdk.messages import BlobChunkPayload


def part(data: bytes, sequence: int, total: int, *, end: bool = False, name: str = "b") -> BlobChunkPayload:
    return BlobChunkPayload(id=name, sequence=sequence, total_length=total, blob=data, end=end)


@given(st.lists(st.binary(max_size=50), min_size=1, max_size=20))
def test_parts_in_order_come_to_the_whole(pieces: list[bytes]) -> None:
    joiner, total, joined = BlobJoiner(10_000), sum(map(len, pieces)), None
    for number, piece in enumerate(pieces):
        joined = joiner.add(part(piece, number, total, end=number == len(pieces) - 1), {"n": number})
    assert joined is not None
    assert (joined.data, joined.meta) == (b"".join(pieces), {"n": 0})
    joiner.check_all_ended()


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([part(b"a", 1, 2)], "expected part 0, got part 1"),
        ([part(b"a", 0, 2), part(b"a", 0, 2)], "expected part 1, got part 0"),
        ([part(b"a", 0, 2), part(b"b", 1, 3)], "first declared 2 bytes, then 3"),
        ([part(b"abc", 0, 2)], "longer than the 2 bytes"),
        ([part(b"a", 0, 2, end=True)], "declared 2 bytes and ended after 1"),
    ],
)
def test_a_lie_names_the_blob_and_the_rule(parts: list[BlobChunkPayload], says: str) -> None:
    joiner = BlobJoiner(100)
    with pytest.raises(ProtocolError, match=says) as caught:
        for one in parts:
            joiner.add(one, {})
    assert "'b'" in caught.value.message


def test_a_declared_length_over_the_limit_is_refused_before_anything_is_kept() -> None:
    with pytest.raises(LimitExceededError, match="over the limit of 10"):
        BlobJoiner(10).add(part(b"", 0, 1 << 60), {})


def test_a_missing_end_is_told_at_the_end_of_the_run() -> None:
    joiner = BlobJoiner(10)
    joiner.add(part(b"a", 0, 2), {})
    with pytest.raises(ProtocolError, match="before the last part of blob 'b'"):
        joiner.check_all_ended()


def test_no_more_than_so_many_blobs_may_be_open() -> None:
    joiner = BlobJoiner(10)
    for number in range(OPEN_BLOBS):
        joiner.add(part(b"", 0, 1, name=str(number)), {})
    with pytest.raises(LimitExceededError, match="still in parts"):
        joiner.add(part(b"", 0, 1, name="more"), {})
