"""Where installed plugins are: the root folder and what stands in it.

    ROOT/plugins.lock            what is installed; the only truth
    ROOT/.changing               locked while plugins.lock is read and written again
    ROOT/sdk/DIGEST/             the host's own SDK as wheels
    ROOT/bytecode/               byte code by the hash of its source
    ROOT/environments/NAME-ID/   one environment: `hold`, `venv/`, `files.json`, `stamps.json`

An environment's folder has its final path from the start, so a virtual environment is never moved. It counts as
installed when plugins.lock names it. One that it does not name and nobody holds is rubbish, whether it was never
finished, or replaced, or removed.
"""

import contextlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from enfilade.environments.hold import Hold, take_hold
from enfilade.settings.current_folder import absolute
from enfilade.settings.data_folder import data_folder

ROOT_VARIABLE = "ENFILADE_PLUGINS_DIR"
"""The variable that names another root folder."""


def default_root() -> Path:
    """The root folder: `ENFILADE_PLUGINS_DIR`, else `plugins` in the data folder."""
    if named := os.environ.get(ROOT_VARIABLE):
        return absolute(Path(named))
    return data_folder() / "plugins"


@dataclass(frozen=True, slots=True)
class Folders:
    """The paths below a root folder."""

    root: Path

    @property
    def lock_file(self) -> Path:
        """plugins.lock."""
        return self.root / "plugins.lock"

    @property
    def guard(self) -> Path:
        """The file that is locked while plugins.lock changes."""
        return self.root / ".changing"

    @property
    def _half_written(self) -> Path:
        return self.lock_file.with_suffix(".new")

    @property
    def sdk(self) -> Path:
        """The folder of the SDK's wheels."""
        return self.root / "sdk"

    @property
    def bytecode(self) -> Path:
        """The folder of byte code."""
        return self.root / "bytecode"

    @property
    def environments(self) -> Path:
        """The folder of all environments."""
        return self.root / "environments"

    def new_environment(self, name: str) -> tuple[Path, Hold]:
        """Makes the folder of an environment to be, held by the caller. Call it under the guard.

        The hold is shared, so that the plugin can be opened there as a host opens it; it keeps the sweep away.

        Raises:
            OSError: It cannot be made.
        """
        readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "plugin"
        folder = self.environments / f"{readable}-{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        hold = take_hold(folder, exclusive=True)
        if hold is None:  # nobody else knows it yet
            raise OSError(f"{folder} is held by somebody else")
        hold.share()
        return folder, hold

    def has_rubbish(self, kept: frozenset[str]) -> bool:
        """Whether a sweep could find something; writes and locks nothing."""
        return self._half_written.exists() or next(self._unkept(kept), None) is not None

    def sweep(self, kept: frozenset[str]) -> None:
        """Removes what is not installed and not held. Call it under the guard.

        Args:
            kept: Names of the folders that plugins.lock names.
        """
        with contextlib.suppress(OSError):
            self._half_written.unlink()
        for folder in self._unkept(kept):
            with contextlib.suppress(OSError):
                hold = take_hold(folder, exclusive=True)
                if hold is not None:
                    with hold:
                        remove_tree(folder)

    def _unkept(self, kept: frozenset[str]) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            for folder in sorted(self.environments.iterdir()):
                if folder.name not in kept and folder.is_dir() and not folder.is_symlink():
                    yield folder


def remove_tree(folder: Path) -> None:
    """Removes a folder with everything in it, folders that their owner may not write included."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for parent, names, _ in os.walk(folder):
            for name in names:
                path = Path(parent, name)
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)
