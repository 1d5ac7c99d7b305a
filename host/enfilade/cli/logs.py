"""What the log shows on the command line."""

import logging
import os

from enfilade.cli.screen import DIM, YELLOW, Screen

_PLUGINS = "enfilade.plugin"
_GRPC_LEVEL = "GRPC_VERBOSITY"
"""What gRPC's own code prints besides what it raises; it is read when that is loaded."""


def show_logs(screen: Screen, *, verbose: bool) -> None:
    """Lets warnings of the host through, each as one line; with `verbose` all logs and what plugins print."""
    os.environ.setdefault(_GRPC_LEVEL, "ERROR" if verbose else "NONE")
    handler: logging.Handler = _Verbose(screen) if verbose else _Warnings(screen)
    root = logging.getLogger()
    root.addHandler(handler if verbose else logging.NullHandler())
    ours = logging.getLogger("enfilade")
    ours.setLevel(logging.DEBUG if verbose else logging.WARNING)
    if not verbose:
        ours.addHandler(handler)


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
