"""What a plugin says that it offers, as far as a host listens to it."""

from enfilade.isolation.output import visible
from enfilade_sdk import codec
from enfilade_sdk.contract import Fault, StrategyDescription
from enfilade_sdk.errors import ProtocolError
from enfilade_wire.v1 import strategy_pb2 as pb

MOST_BYTES = 1024 * 1024
"""Bytes of a plugin's whole answer. To read what is larger would hold up all that the host does."""

MOST_STRATEGIES = 500
MOST_NAME = 200
"""Characters of a strategy's name."""

MOST_FAULTS, MOST_FAULT = 20, 500
"""Faults of a strategy that are told, and characters of each part of one."""


def descriptions_of(response: pb.DescribeResponse) -> list[StrategyDescription]:
    """The strategies that a plugin offers.

    Raises:
        ProtocolError: The answer is too large, or cannot be read; the text names the rule.
    """
    if (size := response.ByteSize()) > MOST_BYTES:
        raise ProtocolError(f"what a plugin says of itself has at most {MOST_BYTES} bytes, this has {size}")
    if (number := len(response.strategies)) > MOST_STRATEGIES:
        raise ProtocolError(f"a plugin offers at most {MOST_STRATEGIES} strategies, this one {number}")
    return [_description(strategy) for strategy in response.strategies]


def _description(described: pb.StrategyDescription) -> StrategyDescription:
    name = described.name
    if not name.isprintable() or not 0 < len(name) <= MOST_NAME:
        shown = visible(name[:MOST_NAME])
        raise ProtocolError(f"a strategy's name has 1 to {MOST_NAME} printable characters, this is '{shown}'")
    description = codec.description_from_wire(described)
    return description.model_copy(update={"faults": _faults(description.faults)})


def _faults(faults: list[Fault]) -> list[Fault]:
    """The first of them, each of a length that can be read, and how many more there are."""
    told = [
        Fault(expected=_cut(fault.expected), found=_cut(fault.found), remedy=_cut(fault.remedy))
        for fault in faults[:MOST_FAULTS]
    ]
    if (more := len(faults) - MOST_FAULTS) > 0:
        told.append(Fault(expected="no more", found=f"{more} more faults", remedy="mend these first"))
    return told


def _cut(text: str) -> str:
    return visible(text[:MOST_FAULT])
