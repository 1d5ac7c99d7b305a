"""How each plugin is reached: the plain link or gRPC."""

from enfilade.isolation.output import OutputTail
from enfilade.isolation.process import GuestProcess
from enfilade.isolation.transport.address import Address
from enfilade.isolation.transport.link_transport import LinkTransport
from enfilade.isolation.transport.stream import Transport
from enfilade_sdk.serving.address import unix_address
from enfilade_sdk.serving.handshake import LINK


def transport_to(process: GuestProcess) -> Transport:
    """What carries runs to a process that was started, by what it said in its handshake."""
    handshake = process.handshake
    if handshake.transport == LINK:
        return LinkTransport(handshake.socket.path, process.token)
    output = None if process.spec.speaks_launch_line else process.output
    return _grpc(Address(unix_address(handshake.socket.path)), process.token, output)


def transport_at(address: Address) -> Transport:
    """What carries runs to a plugin at an address.

    Raises:
        ConfigError: A certificate file is missing or is not PEM.
    """
    return _grpc(address)


def _grpc(address: Address, token: str = "", output: OutputTail | None = None) -> Transport:
    # Here, since grpc is heavy to import and most hosts have no use for it.
    from enfilade.isolation.transport.grpc_transport import GrpcTransport

    return GrpcTransport(address, token, output)
