"""How far a command is with its files."""

from enfilade.cli.screen import Screen

_CELLS = 24


class FileProgress:
    """A bar on standard error, on a terminal only.

    Args:
        screen: Where it is shown.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def __call__(self, done: int, total: int, name: str) -> None:
        """Shows how many files are done, and which one is next."""
        self._screen.status(bar(done, total, name))


def bar(done: int, total: int, name: str) -> str:
    """`[######------] 12/24 docs/tools.md`."""
    full = _CELLS * done // total if total else _CELLS
    return f"[{'#' * full}{'-' * (_CELLS - full)}] {done}/{total} {name}".rstrip()
