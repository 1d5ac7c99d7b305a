import pytest

from enfilade.cli.parameters import read_params
from enfilade.cli.usage import CommandLineError
from enfilade_sdk.parameters import AgentStrategyParameter

DECLARED = [
    AgentStrategyParameter(name="query", type="string", required=True),
    AgentStrategyParameter(name="depth", type="number", min=0, max=9, precision=0),
    AgentStrategyParameter(name="style", type="select", options=["brief", "long"]),
    AgentStrategyParameter(name="aloud", type="boolean"),
]


def test_values_are_read_by_the_declared_types() -> None:
    read = read_params(DECLARED, ["depth=3", "style=brief", "aloud=yes"])
    assert read == {"depth": 3, "style": "brief", "aloud": True}


def test_a_value_may_hold_equals_signs() -> None:
    assert read_params(DECLARED, ["query=a=b"]) == {"query": "a=b"}


def test_what_is_required_may_come_from_elsewhere() -> None:
    assert read_params(DECLARED, []) == {}


def test_all_faults_are_told_at_once_whatever_their_kind() -> None:
    pairs = ["dept=1", "depth=99", "style=terse", "aloud=perhaps", "nonsense"]
    with pytest.raises(CommandLineError) as caught:
        read_params(DECLARED, pairs)
    text = caught.value.message
    assert text.startswith("-p: the parameters do not fit the strategy (5 faults):")
    assert "did you mean 'depth'?" in text
    assert "99" in text
    assert "brief" in text
    assert "true, false, yes or no" in text
    assert "nonsense" in text
    assert len(caught.value.details["faults"]) == 5
