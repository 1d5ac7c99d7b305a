"""An address of the configuration, as it may be shown: it may hold a password, or a key among its parameters."""

import base64
import re
from collections.abc import Iterator
from urllib.parse import unquote, unquote_plus

_USER = re.compile(r"(?<=://)([^/?#\s@]*(?:@[^/?#\s@]*)*)@")
_SECRET = re.compile(r"(?i)(?<=[?&])([^=&#\s]*(?:key|token|secret|passw|pwd|credential|auth|sig)[^=&#\s]*)=([^&#\s]+)")
_MASK = "***"
_SHORTEST = 4


def shown_address(address: str) -> str:
    """The address with `***` for user and password, and for parameters whose names say that they are secret."""
    return _SECRET.sub(rf"\1={_MASK}", _USER.sub(f"{_MASK}@", address))


def secrets_in(address: str) -> tuple[str, ...]:
    """What of an address must not appear in any text, in each of the forms in which a server may send it back."""
    return tuple(dict.fromkeys(secret for secret in _secrets_in(address) if len(secret) >= _SHORTEST))


def _secrets_in(address: str) -> Iterator[str]:
    if found := _USER.search(address):
        user, _, password = found[1].partition(":")
        yield from (password, unquote(password))
        yield base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    for found in _SECRET.finditer(address):
        yield from (found[2], unquote_plus(found[2]))
