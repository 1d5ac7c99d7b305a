"""What a plugin says of itself is listened to within bounds, and shown without harm."""

import json

import pytest

from enfilade.isolation.described import MOST_BYTES, MOST_FAULTS, MOST_STRATEGIES, descriptions_of
from enfilade_sdk.errors import ProtocolError
from enfilade_wire.v1 import strategy_pb2 as pb


def strategy(name: str = "act", about: object = None, parameters: object = ()) -> pb.StrategyDescription:
    return pb.StrategyDescription(
        name=name,
        about_json=json.dumps(about or {}),
        parameters_json=json.dumps(list(parameters)),  # type: ignore[call-overload]  # whatever is said
    )


def said(*strategies: pb.StrategyDescription) -> pb.DescribeResponse:
    return pb.DescribeResponse(protocol=1, strategies=strategies)


@pytest.mark.parametrize(
    ("response", "rule"),
    [
        (said(strategy(about={"output_schema": {"a": "x" * MOST_BYTES}})), f"has at most {MOST_BYTES} bytes"),
        (said(strategy(parameters=[{"name": f"p{n}", "type": "string"} for n in range(40_000)])), "has at most"),
        (said(*(strategy(f"s{n}") for n in range(MOST_STRATEGIES + 1))), f"offers at most {MOST_STRATEGIES} strat"),
        (said(strategy("")), "1 to 200 printable characters, this is ''"),
        (said(strategy("x" * 201)), "1 to 200 printable characters"),
        (said(strategy("act\n\x1b[2J")), r"1 to 200 printable characters, this is 'act\x0a\x1b[2J'"),
        (said(strategy("\u202etca")), r"this is '\x202etca'"),
        (said(strategy(about="no object")), "field about_json: expected"),
        (said(strategy(about={"label": {"en_US": "\ud800"}})), "field about_json: expected JSON text"),
        (
            said(pb.StrategyDescription(name="act", parameters_json="[" * 100_000)),
            "field parameters_json: expected JSON",
        ),
    ],
    ids=["schema", "parameters", "strategies", "no name", "long", "escapes", "turned", "about", "surrogate", "deep"],
)
def test_what_is_too_much_or_cannot_be_shown_is_refused_with_the_rule(response: pb.DescribeResponse, rule: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        descriptions_of(response)
    assert rule in caught.value.message
    assert len(caught.value.message) < 500


def test_faults_are_told_up_to_a_number_and_a_length_and_without_escapes() -> None:
    faults = [pb.Fault(expected="\x1b[2J" * 1000, found="one\nforged", remedy="mend") for _ in range(MOST_FAULTS + 7)]
    (described,) = descriptions_of(said(pb.StrategyDescription(name="act", faults=faults)))
    assert len(described.faults) == MOST_FAULTS + 1
    assert described.faults[0].expected.startswith("\\x1b[2J\\x1b")
    assert described.faults[0].found == "one\\x0aforged"
    assert str(described.faults[-1]) == "expected no more; found 7 more faults; mend these first"
    assert max(len(str(fault)) for fault in described.faults) < 3000
