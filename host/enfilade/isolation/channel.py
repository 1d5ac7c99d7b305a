"""The gRPC channel to a guest."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from enfilade.errors import ConfigError
from enfilade.isolation.process import MAX_MESSAGE_BYTES

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


@dataclass(frozen=True, slots=True)
class Address:
    """Where a guest is that this host did not start: `unix:PATH` or `grpcs://HOST:PORT` with mutual TLS from files."""

    target: str
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def open_channel(address: Address) -> "grpc.aio.Channel":
    """A channel to an address.

    Raises:
        ConfigError: The address has another form, or a certificate file is missing.
    """
    if address.target.startswith("unix:"):
        return grpc.aio.insecure_channel(address.target, options=OPTIONS)
    if not address.target.startswith("grpcs://"):
        raise ConfigError(f"address: expected unix:PATH or grpcs://HOST:PORT, got {address.target!r}")
    ca, certificate, key = (_read(name, path) for name, path in _files(address))
    credentials = grpc.ssl_channel_credentials(ca, key, certificate)
    return grpc.aio.secure_channel(address.target.removeprefix("grpcs://"), credentials, options=OPTIONS)


def _files(address: Address) -> list[tuple[str, Path | None]]:
    return [("ca", address.ca), ("certificate", address.certificate), ("key", address.key)]


def _read(name: str, path: Path | None) -> bytes:
    if path is None:
        raise ConfigError(f"a grpcs:// address needs the files ca, certificate and key (PEM); {name} is not set")
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{name}: cannot read {path}: {error.strerror}") from None
