"""The gRPC channel to a guest."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc

from enfilade.errors import ConfigError
from enfilade.isolation.address import GRPCS, Address
from enfilade_sdk.serving.handshake import MAX_MESSAGE_BYTES

OPTIONS: Sequence[tuple[str, Any]] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.ping_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.bdp_probe", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),
)


def open_channel(address: Address) -> "grpc.aio.Channel":
    """A channel to an address.

    Raises:
        ConfigError: A certificate file is missing or is not PEM.
    """
    if not address.target.startswith(GRPCS):
        return grpc.aio.insecure_channel(address.target, options=OPTIONS)
    ca, certificate, key = (_read(name, path) for name, path in _files(address))
    credentials = grpc.ssl_channel_credentials(ca, key, certificate)
    return grpc.aio.secure_channel(address.target.removeprefix(GRPCS), credentials, options=OPTIONS)


def _files(address: Address) -> list[tuple[str, Path | None]]:
    return [("ca", address.ca), ("certificate", address.certificate), ("key", address.key)]


def _read(name: str, path: Path | None) -> bytes:
    if path is None:
        raise ConfigError(f"a grpcs:// address needs the files ca, certificate and key (PEM); {name} is not set")
    try:
        pem = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{name}: cannot read {path}: {error.strerror}") from None
    if b"-----BEGIN " not in pem:
        raise ConfigError(f"{name}: expected PEM ('-----BEGIN ...'), {path} is something else")
    return pem
