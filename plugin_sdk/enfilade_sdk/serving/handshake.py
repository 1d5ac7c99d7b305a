"""The plugin's side of a launch: what the host says on stdin, what is said back on stdout.

The line is go-plugin's, so that one launcher serves plugins of either kind.
"""

import json
import os
from dataclasses import dataclass

COOKIE_KEY = "ENFILADE_PLUGIN"
COOKIE_VALUE = "5a4e8f1c-strategy-plugin"
"""Tells a plugin that a host has started it. It is no secret; it keeps people from running one by hand."""

CORE_PROTOCOL = 1
"""go-plugin's handshake version, the line's first field."""

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""gRPC's limit for one frame, both ways, where the host names none."""

GRPC = "grpc"
LINK = "link"
"""The transports, by their names in the launch line and the handshake line."""

LAUNCH_LINE_LIMIT = 64 * 1024
"""Bytes of the launch line; a longer one is not ours."""

HOW_TO_USE = (
    "This is an Enfilade strategy plugin. It is started by a host, not by hand.\n"
    "Install it beside the host and ask for it by name:  enfilade run QUESTION -s NAME\n"
    "See what the host finds and whether it fits:        enfilade plugins list; enfilade plugins check NAME\n"
    "Serve it at an address, for hosts elsewhere:        "
    "python -m enfilade_sdk.serving --listen unix:PATH | grpcs://HOST:PORT --cert FILE --key FILE --ca FILE "
    "package.module:Class"
)


class HandshakeError(Exception):
    """The launch is not one this plugin can answer; the text goes to stderr."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What the host says of a launch.

    Attributes:
        socket_dir: The private directory in which to listen.
        protocols: Application protocol versions that the host speaks.
        token: Must come with every RPC; empty when the host sent none (the directory is private anyway).
        parent: The host's process id, 0 when unknown.
        max_message_bytes: The limit for one frame.
        transports: How the host can talk, the one it likes best first: `link` (see `link.py`) or `grpc`.
    """

    socket_dir: str
    protocols: tuple[int, ...]
    token: str = ""
    parent: int = 0
    max_message_bytes: int = MAX_MESSAGE_BYTES
    transports: tuple[str, ...] = (GRPC,)


def read_launch(lifeline: int) -> Launch:
    """Reads the environment and, for hosts that write one, the launch line.

    Raises:
        HandshakeError: No host started this process, or it speaks no version of ours.
    """
    if os.environ.pop(COOKIE_KEY, None) != COOKIE_VALUE:
        raise HandshakeError(HOW_TO_USE)
    versions = _versions(os.environ.pop("PLUGIN_PROTOCOL_VERSIONS", "1"))
    socket_dir = os.environ.pop("PLUGIN_UNIX_SOCKET_DIR", "")
    more = _launch_line(lifeline) if os.environ.pop("ENFILADE_LAUNCH", "") == "stdin" else {}
    if not socket_dir:
        raise HandshakeError("expected PLUGIN_UNIX_SOCKET_DIR in the environment; the host did not set it")
    return Launch(
        socket_dir=socket_dir,
        protocols=versions,
        token=str(more.get("token", "")),
        parent=_whole(more, "parent", 0),
        max_message_bytes=_whole(more, "max_message_bytes", MAX_MESSAGE_BYTES),
        transports=_words(more, "transports", GRPC),
    )


def choose_protocol(launch: Launch, ours: int) -> int:
    """The version to speak.

    Raises:
        HandshakeError: The host does not speak ours.
    """
    if ours not in launch.protocols:
        theirs = ", ".join(map(str, launch.protocols))
        raise HandshakeError(
            f"this plugin speaks protocol {ours}, the host speaks {theirs}; update the older of the two"
        )
    return ours


def choose_transport(launch: Launch) -> str:
    """The first of the host's transports that this SDK has; gRPC, which every host has, when there is none."""
    return next((transport for transport in launch.transports if transport in (LINK, GRPC)), GRPC)


def handshake_line(protocol: int, address: str, transport: str = GRPC) -> str:
    """The line that tells the host where the plugin listens."""
    return f"{CORE_PROTOCOL}|{protocol}|unix|{address}|{transport}|"


def socket_path(folder: str) -> str:
    """Where a plugin process listens in its private directory."""
    return f"{folder}/{os.getpid()}.sock"


def _whole(launch: dict[str, object], key: str, default: int) -> int:
    value = launch.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise HandshakeError(f"launch line, {key}: expected a whole number, got {value!r}")
    return value


def _words(launch: dict[str, object], key: str, default: str) -> tuple[str, ...]:
    value = launch.get(key, [default])
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise HandshakeError(f"launch line, {key}: expected an array of words, got {value!r}")
    return tuple(value)


def _versions(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(version) for version in text.split(","))
    except ValueError:
        raise HandshakeError(f"PLUGIN_PROTOCOL_VERSIONS: expected numbers with commas, got {text!r}") from None


def _launch_line(lifeline: int) -> dict[str, object]:
    line = bytearray()
    while not line.endswith(b"\n") and len(line) < LAUNCH_LINE_LIMIT:
        byte = os.read(lifeline, 1)
        if not byte:
            break
        line += byte
    try:
        value = json.loads(line)
    except ValueError:
        raise HandshakeError(f"expected one line of JSON on stdin from the host, got {bytes(line[:80])!r}") from None
    if not isinstance(value, dict):
        raise HandshakeError("expected a JSON object on stdin from the host")
    return value
