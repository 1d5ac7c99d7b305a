"""The gRPC channel to a guest."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc

from enfilade.errors import ConfigError
from enfilade.isolation.transport.address import GRPCS, Address
from enfilade_sdk.serving.handshake import MAX_MESSAGE_BYTES
from enfilade_sdk.serving.pem import read_pem_files

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
        ConfigError: A certificate file is missing or cannot be used.
    """
    if not address.target.startswith(GRPCS):
        return grpc.aio.insecure_channel(address.target, options=OPTIONS)
    ca, certificate, key = _contents(address)
    credentials = grpc.ssl_channel_credentials(ca, key, certificate)
    return grpc.aio.secure_channel(address.target.removeprefix(GRPCS), credentials, options=OPTIONS)


def _contents(address: Address) -> tuple[bytes, bytes, bytes]:
    try:
        return read_pem_files(
            ("ca", _given("ca", address.ca)),
            ("certificate", _given("certificate", address.certificate)),
            ("key", _given("key", address.key)),
        )
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _given(name: str, path: Path | None) -> Path:
    if path is None:
        raise ConfigError(f"a grpcs:// address needs the files ca, certificate and key (PEM); {name} is not set")
    return path
