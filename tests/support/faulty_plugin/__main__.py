"""`python -m tests.support.faulty_plugin MODE`: a plugin that does one thing wrong, started as go-plugin's are.

It speaks the wire by hand, with grpc and protobuf alone: what the SDK would never send can be sent.
"""

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.faulty_plugin.server import serve

FOLDER = os.environ.get("PLUGIN_UNIX_SOCKET_DIR", "")


def say(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


def silent() -> None:
    time.sleep(60)


def garbage() -> None:
    sys.stderr.write("about to say hello\n")
    say("Hello, I am a plugin\x1b[31m!\n")
    time.sleep(60)


def endless_line() -> None:
    while True:
        say("x" * 65536)


def bad_version() -> None:
    say(f"1|99|unix|{FOLDER}/p.sock|grpc|\n")
    time.sleep(60)


def bad_core() -> None:
    say(f"7|1|unix|{FOLDER}/p.sock|grpc|\n")
    time.sleep(60)


def other_transport() -> None:
    say("1|1|tcp|127.0.0.1:1234|netrpc|\n")
    time.sleep(60)


def no_socket() -> None:
    say(f"1|1|unix|{FOLDER}/nothing.sock|grpc|\n")
    time.sleep(60)


def no_path() -> None:
    say("1|1|unix||grpc|\n")
    time.sleep(60)


def plain_file() -> None:
    (Path(FOLDER) / "p.sock").write_text("no socket", encoding="utf-8")
    say(f"1|1|unix|{FOLDER}/p.sock|grpc|\n")
    time.sleep(60)


def foreign_socket() -> None:
    """Names a socket that another process might own."""
    path = os.environ["FOREIGN"]
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        say(f"1|1|unix|{path}|grpc|\n")
        time.sleep(60)


def linked_socket() -> None:
    """The same by way of a link in its own folder."""
    (Path(FOLDER) / "p.sock").symlink_to(os.environ["FOREIGN"])
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.environ["FOREIGN"])
        listening.listen()
        say(f"1|1|unix|{FOLDER}/p.sock|grpc|\n")
        time.sleep(60)


def deaf_socket() -> None:
    """Listens and never answers."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{FOLDER}/p.sock")
        listening.listen()
        say(f"1|1|unix|{FOLDER}/p.sock|grpc|\n")
        time.sleep(60)


def exits_early() -> None:
    sys.stderr.write("I have\nchanged my mind\n")
    sys.exit(3)


def exits_in_mid_line() -> None:
    say("1|1|un")
    sys.exit(0)


def closes_stdout() -> None:
    os.close(1)
    time.sleep(60)


def killed() -> None:
    os.kill(os.getpid(), 9)


EARLY: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        silent,
        garbage,
        endless_line,
        bad_version,
        bad_core,
        other_transport,
        no_socket,
        no_path,
        plain_file,
        foreign_socket,
        linked_socket,
        deaf_socket,
        exits_early,
        exits_in_mid_line,
        closes_stdout,
        killed,
    )
}

if __name__ == "__main__":
    mode = sys.argv[1]
    if mode in EARLY:
        EARLY[mode]()
    else:
        asyncio.run(serve(mode, f"{FOLDER}/p.sock", say))
