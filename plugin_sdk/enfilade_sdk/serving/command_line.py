"""What a plugin process is told on its command line."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from enfilade_sdk.serving.handshake import HandshakeError

_OPTIONS = {"--path": "paths", "--listen": "listen", "--cert": "cert", "--key": "key", "--ca": "ca"}


@dataclass(slots=True)
class CommandLine:
    """The words of the command line, sorted.

    Attributes:
        offers: `[NAME=]package.module:Class` of each strategy.
        paths: Folders that go before the installed packages.
        listen: The address to serve at when no host started the process; empty otherwise.
        cert: PEM file of the server's certificate, for `grpcs://`.
        key: PEM file of its key.
        ca: PEM file of the authority that signs the certificates of hosts.
    """

    offers: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    listen: str = ""
    cert: str = ""
    key: str = ""
    ca: str = ""


def read_command_line(arguments: Sequence[str]) -> CommandLine:
    """Sorts the words.

    Raises:
        HandshakeError: An option is unknown or has no value, or there is no strategy.
    """
    line = CommandLine()
    words = iter(arguments)
    for word in words:
        option, sign, value = word.partition("=")
        if not word.startswith("--"):
            line.offers.append(word)
        elif option not in _OPTIONS:
            raise HandshakeError(f"unknown option {option}; there are: {', '.join(_OPTIONS)}")
        else:
            _set(line, option, value if sign else next(words, ""))
    if not line.offers:
        raise HandshakeError("expected at least one strategy: [NAME=]package.module:Class")
    return line


def _set(line: CommandLine, option: str, value: str) -> None:
    if not value:
        raise HandshakeError(f"option {option} needs a value")
    if option == "--path":
        line.paths.append(value)
    else:
        setattr(line, _OPTIONS[option], value)
