"""What a plugin process says that it offers."""

from enfilade_sdk import codec
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.serving.plugin import Offer, Plugin, unopened
from enfilade_wire.v1 import strategy_pb2 as pb


def describe_plugin(plugin: Plugin) -> pb.DescribeResponse:
    """The answer to a host that asks; what cannot be sent costs only the strategy that it is of."""
    strategies = [_described(description) for description in plugin.descriptions]
    return pb.DescribeResponse(protocol=codec.PROTOCOL, strategies=strategies)


def _described(description: StrategyDescription) -> pb.StrategyDescription:
    try:
        return codec.description_to_wire(description)
    except Exception as error:  # noqa: BLE001 - what an author declares may hold anything; it costs only that strategy
        reason = f"its description cannot be sent: {error}"
        return codec.description_to_wire(unopened(Offer(description.name, description.name), reason))
