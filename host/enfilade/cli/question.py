"""The question, from the command line or from standard input."""

import logging
import sys

from enfilade.cli.usage import CommandLineError

STDIN = "-"

_log = logging.getLogger(__name__)


def question_text(given: str) -> str:
    """The question's text; `-` is all of standard input.

    Raises:
        CommandLineError: It is not UTF-8, or there is nothing in it.
    """
    text = _from_stdin() if given == STDIN else given
    if not is_utf8(text):
        raise CommandLineError("the question is not UTF-8 text; expected UTF-8 (convert it with iconv, for instance)")
    if not text.strip():
        where = "standard input held nothing" if given == STDIN else "it is empty"
        raise CommandLineError(f"expected a question, but {where}")
    return text


def is_utf8(text: str) -> bool:
    """Whether text of the command line was; what was not arrives as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def decoded(data: bytes, what: str) -> str:
    """Bytes of standard input as text.

    Raises:
        CommandLineError: They are not UTF-8; the text says where.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandLineError(
            f"{what} is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}; "
            "expected UTF-8 (convert it with iconv, for instance)"
        ) from None


def _from_stdin() -> str:
    if sys.stdin is None:
        raise CommandLineError("expected a question on standard input, which is closed")
    _log.info("reading the question from standard input")
    return decoded(sys.stdin.buffer.read(), "the question on standard input").rstrip("\r\n")
