"""What a strategy says of itself: to the wire and back."""

from collections.abc import Mapping
from typing import Any, cast

from enfilade_sdk.codec.field import value_of
from enfilade_sdk.contract import Fault, StrategyDescription
from enfilade_sdk.json_text import json_object, json_text, json_value
from enfilade_wire.v1 import strategy_pb2 as pb


def description_to_wire(description: StrategyDescription) -> pb.StrategyDescription:
    """What a strategy says of itself."""
    about = description.model_dump(exclude={"name", "parameters", "faults"}, exclude_none=True)
    return pb.StrategyDescription(
        name=description.name,
        about_json=json_text(about),
        parameters_json=json_text([p.model_dump(mode="json", exclude_none=True) for p in description.parameters]),
        faults=[pb.Fault(expected=f.expected, found=f.found, remedy=f.remedy) for f in description.faults],
    )


def description_from_wire(described: pb.StrategyDescription) -> StrategyDescription:
    """What a strategy says of itself.

    Raises:
        ProtocolError: A field does not hold what it should.
    """
    about: Mapping[str, Any] = json_object(described.about_json, "about_json")
    parameters = json_value(described.parameters_json or "[]", "parameters_json")
    faults = [Fault(expected=f.expected, found=f.found, remedy=f.remedy) for f in described.faults]
    value = {**about, "name": described.name, "parameters": parameters, "faults": faults}
    return cast(StrategyDescription, value_of(StrategyDescription, value, f"strategies[{described.name}]"))
