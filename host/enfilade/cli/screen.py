"""Where the command writes: results on standard output, all else on standard error."""

import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, Self

from enfilade.cli.visible import in_one_line, visible
from enfilade_sdk.errors import EnfiladeError

DIM = "2"
RED = "31"
YELLOW = "33"
_WIDTH = 200


class ReaderGoneError(Exception):
    """Whoever read standard output has closed it."""


class OutputError(EnfiladeError):
    """Standard output cannot be written."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Where one of the two streams goes.

    Attributes:
        file: What is written to.
        is_terminal: Whether it is a terminal; control characters are then written out.
    """

    file: BinaryIO
    is_terminal: bool = False


class Screen:
    """Keeps two streams apart and, when both lead to one place, from running into each other's lines.

    It may be used from several threads.

    Args:
        out: Where results go.
        err: Where all else goes.
        together: Whether both lead to the same place, a terminal or a file.
        colour: Whether a terminal is given colours.
        moves: Whether a terminal can take a line back.
        encoding: The encoding of text on both.
    """

    def __init__(
        self,
        out: Stream,
        err: Stream,
        *,
        together: bool = False,
        colour: bool = False,
        moves: bool = True,
        encoding: str = "utf-8",
    ) -> None:
        self.out_terminal = out.is_terminal
        self.err_terminal = err.is_terminal
        self._together = together or (out.is_terminal and err.is_terminal)
        self._out = out.file
        self._err = err.file
        self._colour = colour and err.is_terminal
        self._moves = moves and err.is_terminal
        self._encoding = encoding
        self._lock = threading.RLock()
        self._out_open = False
        self._err_open = False
        self._status = ""

    @classmethod
    def claim(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Takes standard output for results alone: what other code of this process prints goes to standard error."""
        variables = os.environ if environment is None else environment
        out = _file(sys.stdout, 1)
        err = _file(sys.stderr, 2)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        with contextlib.suppress(OSError):
            os.dup2(err.fileno(), 1)
            sys.stdout = open(1, "w", 1, encoding, "backslashreplace", closefd=False)  # noqa: SIM115
        return cls(
            Stream(out, out.isatty()),
            Stream(err, err.isatty()),
            together=_are_one(out, err),
            colour=not variables.get("NO_COLOR") and variables.get("TERM", "dumb") != "dumb",
            moves=variables.get("TERM", "dumb") != "dumb",
            encoding=encoding,
        )

    @property
    def width(self) -> int:
        """Columns of a line on standard error."""
        return shutil.get_terminal_size((_WIDTH, 24)).columns - 1 if self.err_terminal else _WIDTH

    def result(self, data: bytes) -> None:
        """Writes bytes to standard output and sends them off.

        Raises:
            ReaderGoneError: Nobody reads any more.
            OutputError: It cannot be written.
        """
        with self._lock:
            self._put_out(data)

    def say(self, text: str) -> None:
        """Writes text to standard output as it comes.

        Raises:
            ReaderGoneError: Nobody reads any more.
            OutputError: It cannot be written.
        """
        if not text:
            return
        with self._lock:
            self._clear_status()
            self._close_err()
            shown = visible(text) if self.out_terminal else text
            self._out_open = not shown.endswith("\n")
            self._put_out(shown.encode(self._encoding, "backslashreplace"))

    def end_line(self) -> None:
        """Ends the line on standard output, if one is open."""
        with self._lock:
            self._close_out()

    def gap(self) -> None:
        """Sets what was said on standard output apart from what follows."""
        with self._lock:
            if self._out_open:
                self._out_open = False
                self._put_out(b"\n" if self.err_terminal else b"\n\n")

    def note(self, text: str, style: str = DIM, *, indent: str = "") -> None:
        """Writes one line, cut to its width, to standard error."""
        self.error(indent + in_one_line(text, self.width - len(indent)), style)

    def error(self, text: str, style: str = "") -> None:
        """Writes text of one or several lines to standard error."""
        with self._lock:
            self._clear_status()
            self._close_err()
            if self._together:
                self._close_out()
            self._put_err(self._styled(visible(text), style) + "\n")

    def aside(self, text: str) -> None:
        """Writes text as it comes, dim, to standard error."""
        if not text:
            return
        with self._lock:
            self._clear_status()
            if self._together:
                self._close_out()
            self._err_open = not text.endswith("\n")
            self._put_err(self._styled(visible(text), DIM))

    def status(self, text: str) -> None:
        """Shows what is going on, until something is written; only on a terminal with nothing open in its line."""
        with self._lock:
            if not self._moves or self._err_open or (self._out_open and self.out_terminal):
                return
            self._clear_status()
            self._status = in_one_line(text, self.width)
            self._put_err(self._styled(self._status, DIM))

    def last_word(self, data: bytes, seconds: float = 0.2) -> None:
        """Writes bytes to standard output if that can be done at once."""
        if not self._lock.acquire(timeout=seconds):
            return
        try:
            os.set_blocking(self._out.fileno(), False)
            with contextlib.suppress(Exception):
                self._put_out(data)
        finally:
            self._lock.release()

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._colour and style else text

    def _clear_status(self) -> None:
        if self._status:
            self._status = ""
            self._put_err("\r\x1b[K")

    def _close_out(self) -> None:
        if self._out_open:
            self._out_open = False
            self._put_out(b"\n")

    def _close_err(self) -> None:
        if self._err_open:
            self._err_open = False
            self._put_err("\n")

    def _put_out(self, data: bytes) -> None:
        try:
            self._out.write(data)
            self._out.flush()
        except BrokenPipeError:
            self._forget_out()
            raise ReaderGoneError from None
        except OSError as error:
            self._forget_out()
            raise OutputError(f"cannot write to standard output: {error.strerror}") from None

    def _forget_out(self) -> None:
        """Sends what is left in the buffer, and all that follows, to nowhere."""
        self._out_open = False
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._out.fileno())
            os.close(nowhere)
            self._out.flush()

    def _put_err(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._err.write(text.encode(self._encoding, "backslashreplace"))
            self._err.flush()


def _are_one(out: BinaryIO, err: BinaryIO) -> bool:
    """Whether two files are one and the same, as after `2>&1`."""
    with contextlib.suppress(OSError):
        return os.path.sameopenfile(out.fileno(), err.fileno())
    return False


def _file(stream: object, number: int) -> BinaryIO:
    """A file of our own for a standard stream; a closed one leads nowhere."""
    if stream is not None:
        with contextlib.suppress(OSError):
            flush = getattr(stream, "flush", None)
            if flush is not None:
                flush()
            return os.fdopen(os.dup(number), "wb")
    return open(os.devnull, "wb")  # noqa: PTH123 - lives as long as the process
