"""What the log shows on the command line."""

import logging
import os

from enfilade.cli.screen import DIM, YELLOW, Screen
from enfilade.telemetry.log_lines import JsonLines

_PLUGINS = "enfilade.plugin"
_GRPC_LEVEL = "GRPC_VERBOSITY"
"""What gRPC's own code prints besides what it raises; it is read when that is loaded."""


class Logs:
    """What is shown of the log: warnings of the host, each as one line; with `verbose` all logs and what plugins print.

    Args:
        screen: Where.
        verbose: Whether all is shown.
    """

    def __init__(self, screen: Screen, *, verbose: bool) -> None:
        self._screen = screen
        self._verbose = verbose
        self._handler: logging.Handler = _Verbose(screen) if verbose else _Warnings(screen)
        root = logging.getLogger()
        root.addHandler(self._handler if verbose else logging.NullHandler())
        self._where = root if verbose else logging.getLogger("enfilade")
        logging.getLogger("enfilade").setLevel(logging.DEBUG if verbose else logging.WARNING)
        if not verbose:
            self._where.addHandler(self._handler)

    def follow(self, log_format: str) -> None:
        """Goes on as the configuration wants it, once that is known: `text`, or `json` for JSON Lines."""
        if log_format == "json":
            self._where.removeHandler(self._handler)
            self._handler = _Json(self._screen, verbose=self._verbose)
            self._where.addHandler(self._handler)


def show_logs(screen: Screen, *, verbose: bool) -> Logs:
    """Begins to show the log."""
    os.environ.setdefault(_GRPC_LEVEL, "ERROR" if verbose else "NONE")
    return Logs(screen, verbose=verbose)


class _Json(logging.Handler):
    """Warnings and errors as JSON Lines, with `verbose` everything."""

    def __init__(self, screen: Screen, *, verbose: bool) -> None:
        super().__init__(logging.NOTSET if verbose else logging.WARNING)
        self._screen = screen
        self.setFormatter(JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        self._screen.error(self.format(record))


class _Verbose(logging.Handler):
    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self._screen = screen
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))

    def emit(self, record: logging.LogRecord) -> None:
        self._screen.error(self.format(record), DIM)


class _Warnings(logging.Handler):
    """Errors are not shown: each is the end of a run too, whose text is made for people."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(logging.WARNING)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno == logging.WARNING and not record.name.startswith(_PLUGINS):
            self._screen.note(f"warning: {record.getMessage()}", YELLOW)
