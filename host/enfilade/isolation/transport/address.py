"""Where a plugin is that this host did not start."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from enfilade.errors import ConfigError
from enfilade_sdk.serving.address import unix_address

GRPCS = "grpcs://"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a guest is: gRPC's address of a unix socket, `unix:PATH`, or `grpcs://HOST:PORT` with TLS files (PEM)."""

    target: str
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def configured_address(target: str, files: Mapping[str, Path]) -> Address:
    """The address that an operator wrote: `unix:PATH` or `grpcs://HOST:PORT`.

    Raises:
        ConfigError: It has another form, or its path cannot be a socket's.
    """
    if target.startswith("unix:"):
        try:
            return Address(unix_address(target.removeprefix("unix:")))
        except ValueError as error:
            raise ConfigError(f"address: {error}") from None
    if not target.startswith(GRPCS):
        raise ConfigError(f"address: expected unix:PATH or grpcs://HOST:PORT, got {target!r}")
    return Address(target, files.get("ca"), files.get("certificate"), files.get("key"))
