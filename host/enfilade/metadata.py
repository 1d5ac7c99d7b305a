"""The headers of a distribution's metadata.

`importlib_metadata` has them too, with an email policy whose import takes longer than reading a hundred of them.
"""

from email.message import Message
from email.parser import HeaderParser
from typing import Protocol

_FILES = ("METADATA", "PKG-INFO", "")
"""Of a wheel, of an egg's folder, of an egg that is a file."""


class Described(Protocol):
    """A distribution, as far as its metadata is asked for."""

    def read_text(self, filename: str, /) -> str | None:
        """A file of its metadata; None where there is none."""
        ...


def headers(distribution: Described) -> Message:
    """What its metadata says; without any there are no headers. What is not UTF-8 in it is replaced."""
    text = next(filter(None, (_text(distribution, file) for file in _FILES)), "")
    return HeaderParser().parsestr(text, headersonly=True)


def _text(distribution: Described, file: str) -> str | None:
    try:
        return distribution.read_text(file)
    except UnicodeDecodeError as error:
        return error.object.decode("utf-8", "replace")  # all of the file


def version_of(distribution: Described) -> str:
    """Its version; empty when its metadata has none."""
    return str(headers(distribution).get("Version", ""))
