"""The host's side of a launch: the one line that a plugin prints."""

from dataclasses import dataclass

from enfilade.errors import LaunchError
from enfilade.isolation.held_socket import HeldSocket
from enfilade_sdk.serving.handshake import GRPC

CORE_PROTOCOL = "1"
"""go-plugin's handshake version."""

FIELDS = 5
"""Fields that a handshake line has at the least."""

HANDSHAKE_LIMIT = 4096
"""Bytes of the line; a longer one is not a handshake."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """Where a plugin listens and which version it speaks."""

    protocol: int
    socket: HeldSocket
    transport: str = GRPC


def read_handshake(
    line: bytes, protocols: tuple[int, ...], socket_dir: str, transports: tuple[str, ...] = (GRPC,)
) -> Handshake:
    """Reads `1|APP-PROTOCOL|unix|PATH|grpc|...`.

    Args:
        line: What the plugin printed.
        protocols: The versions that this host speaks.
        socket_dir: The launch's directory.
        transports: What this host offered: `grpc`, which is always understood, and `link` to an SDK.

    Raises:
        LaunchError: It is another line, another version, or names a socket outside the launch's directory.
    """
    shown = line[:120].decode("utf-8", "replace").rstrip("\n")
    fields = shown.split("|") if len(line) < HANDSHAKE_LIMIT else []
    if len(fields) < FIELDS or not fields[0].isdigit() or not fields[1].isdigit():
        raise LaunchError(f"expected the handshake line '1|PROTOCOL|unix|PATH|grpc|' on stdout, read {shown!r}")
    core, protocol, network, path, transport = line.decode("utf-8", "replace").rstrip("\r\n").split("|")[:FIELDS]
    if core != CORE_PROTOCOL:
        raise LaunchError(f"expected handshake version {CORE_PROTOCOL}, the plugin said {core}")
    if int(protocol) not in protocols:
        ours = ", ".join(map(str, protocols))
        raise LaunchError(
            f"the plugin speaks protocol {protocol}, this host speaks {ours}; update the older of the two"
        )
    if network != "unix" or transport not in transports:
        ours = " or ".join(transports)
        raise LaunchError(f"expected a unix socket with {ours}, the plugin offers {network} with {transport}")
    return Handshake(int(protocol), HeldSocket(path, socket_dir), transport)
