"""How gRPC writes the addresses at which plugins listen."""

from urllib.parse import quote

SOCKET_PATH_LIMIT = 107
"""Bytes that a unix socket's path may have (Linux: `sun_path` has 108 with the closing zero)."""


def unix_address(path: str) -> str:
    """The address of a unix socket.

    Raises:
        ValueError: The path is too long for a socket, or holds a comma, which gRPC takes for the end of an address.
    """
    length = len(path.encode("utf-8", "surrogateescape"))
    if not 0 < length <= SOCKET_PATH_LIMIT:
        raise ValueError(f"a socket's path has 1 to {SOCKET_PATH_LIMIT} bytes, this one has {length}: {path}")
    if "," in path:
        raise ValueError(f"a socket's path cannot have a comma: {path}")
    return "unix:" + quote(path.encode("utf-8", "surrogateescape"))
