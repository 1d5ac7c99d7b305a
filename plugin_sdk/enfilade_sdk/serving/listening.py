"""Serves a plugin at an address of its own, for hosts that do not start it."""

import asyncio
import contextlib
import os
import signal
import socket
import stat
from pathlib import Path
from typing import TextIO

import grpc

from enfilade_sdk.serving.address import unix_address
from enfilade_sdk.serving.command_line import CommandLine
from enfilade_sdk.serving.handshake import MAX_MESSAGE_BYTES, HandshakeError
from enfilade_sdk.serving.pem import read_pem_files
from enfilade_sdk.serving.plugin import Plugin
from enfilade_sdk.serving.server import GrpcServing, StrategyServicer, make_server

UNIX = "unix:"
GRPCS = "grpcs://"


async def listen(line: CommandLine, plugin: Plugin, out: TextIO) -> None:
    """Serves until SIGINT or SIGTERM; says where on stdout, in one line, when it is ready.

    No token is asked for: a unix socket is its owner's alone, a TLS port takes only clients with a certificate
    of the given authority. Nobody can end the process from outside.

    Raises:
        HandshakeError: The address or a file cannot be used.
    """
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = make_server(StrategyServicer(plugin), None, max_message_bytes=MAX_MESSAGE_BYTES)
    address = _bind(server, line)
    await server.start()
    out.write(f"listening at {address}\n")
    out.flush()
    await GrpcServing(server).serve_until(stop)
    _remove_socket(address)


def _remove_socket(address: str) -> None:
    if address.startswith(UNIX):
        Path(address.removeprefix(UNIX)).unlink(missing_ok=True)


def _bind(server: "grpc.aio.Server", line: CommandLine) -> str:
    if line.listen.startswith(UNIX):
        return _bind_unix(server, line.listen.removeprefix(UNIX))
    if line.listen.startswith(GRPCS):
        return _bind_tls(server, line)
    raise HandshakeError(f"--listen: expected unix:PATH or grpcs://HOST:PORT, got {line.listen!r}")


def _bind_unix(server: "grpc.aio.Server", path: str) -> str:
    _check_free(path)
    mask = os.umask(0o177)  # the socket is its owner's alone
    try:
        server.add_insecure_port(unix_address(path))
    except (RuntimeError, ValueError) as error:
        raise HandshakeError(f"--listen: cannot listen at {path}: {error}") from None
    finally:
        os.umask(mask)
    return UNIX + path


def _check_free(path: str) -> None:
    """Refuses a path at which something else is, or at which another process answers."""
    try:
        mode = Path(path).lstat().st_mode
    except FileNotFoundError:
        if not Path(path).parent.is_dir():
            raise HandshakeError(f"--listen: cannot listen at {path}: there is no such folder") from None
        return
    except OSError as error:
        raise HandshakeError(f"--listen: cannot listen at {path}: {error.strerror}") from None
    if not stat.S_ISSOCK(mode):
        raise HandshakeError(f"--listen: {path} exists and is no socket; choose another path")
    with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
        probe.connect(path)
        raise HandshakeError(f"--listen: another process listens at {path}")


def _bind_tls(server: "grpc.aio.Server", line: CommandLine) -> str:
    host = line.listen.removeprefix(GRPCS)
    ca, certificate, key = _contents(line)
    credentials = grpc.ssl_server_credentials([(key, certificate)], ca, require_client_auth=True)
    try:
        port = server.add_secure_port(host, credentials)
    except (RuntimeError, ValueError) as error:
        raise HandshakeError(f"--listen: cannot listen at {host}: {error}") from None
    return f"{GRPCS}{host.rpartition(':')[0]}:{port}"


def _contents(line: CommandLine) -> tuple[bytes, bytes, bytes]:
    files = (("--ca", line.ca), ("--cert", line.cert), ("--key", line.key))
    for name, path in files:
        if not path:
            text = "a grpcs:// address needs the files --cert, --key and --ca (PEM)"
            raise HandshakeError(f"{text}; {name} is not given")
    ca, certificate, key = ((name, Path(path)) for name, path in files)
    try:
        return read_pem_files(ca, certificate, key)
    except ValueError as error:
        raise HandshakeError(str(error)) from None
