"""Whether an installed environment is still what was installed."""

import contextlib
import os

from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import DriftError
from enfilade.environments.tree import differences, load_tree, read_tree, save_tree

SHOWN = 10
"""Changes that an error's text lists; `details["changes"]` has more."""

_KEPT = 200


def check_drift(entry: PluginEntry) -> None:
    """Compares an environment with what plugins.lock has of it.

    Raises:
        DriftError: It changed; the text says what.
        InstallError: It cannot be read.
    """
    if not entry.venv.is_dir():
        raise _drifted(entry, [f"its environment {entry.venv} is gone"])
    known = load_tree(entry.folder, entry.tree)
    found = read_tree(entry.venv, known)
    if known is None:
        if found.digest != entry.tree:
            raise _drifted(entry, ["the list of its files is gone or was changed, and so was a file"])
    elif changes := differences(known.files, found.files):
        raise _drifted(entry, changes)
    if not os.access(entry.python, os.X_OK):
        raise _drifted(entry, [f"the Python it was made with, {entry.interpreter}, is gone or not for this user"])
    if known is None or known.stamps != found.stamps:
        with contextlib.suppress(OSError):  # only costs the next check a reading
            save_tree(entry.folder, found)


def _drifted(entry: PluginEntry, changes: list[str]) -> DriftError:
    shown = "".join(f"\n  - {change}" for change in changes[:SHOWN])
    more = f"\n  - and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
    return DriftError(
        f"plugin {entry.name!r} {entry.version} is not started: its environment is not what was installed:"
        f"{shown}{more}\n"
        f"Find out who changed it; `enfilade plugins update {entry.key}` installs it anew.",
        changes[:_KEPT],
    )
