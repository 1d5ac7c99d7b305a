"""A guest's socket, held so that its path cannot come to mean another one."""

import os
import stat
from pathlib import Path

from enfilade.errors import LaunchError
from enfilade_sdk.serving.address import unix_address

_OWN_DESCRIPTORS = "/proc/self/fd"


class HeldSocket:
    """A socket in a launch's directory, which was looked at, and not what may be put into its place afterwards.

    Whoever connects by `path` reaches that very socket. Where the system cannot hold one it is the path that was named.

    Args:
        named: The path that the plugin names.
        directory: The launch's directory.

    Raises:
        LaunchError: There is no such socket, or it is in another place.
    """

    def __init__(self, named: str, directory: str) -> None:
        self.path = named
        self._held: int | None = None
        try:
            unix_address(named)
            self._hold(named, directory)
        except (OSError, RuntimeError):  # pathlib's word for links that lead in a circle
            raise LaunchError(f"the plugin says that it listens at {named!r}, but there is no such socket") from None
        except ValueError as error:
            raise LaunchError(f"the plugin names a socket that cannot be: {error}") from None

    def close(self) -> None:
        """Lets go of it; nobody may connect by its path any more. May be called twice."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _hold(self, named: str, directory: str) -> None:
        real = Path(named).resolve()
        if real.parent != Path(directory).resolve():
            raise LaunchError(f"expected a socket in {directory}, the plugin names {named!r}")
        if not hasattr(os, "O_PATH") or not Path(_OWN_DESCRIPTORS).is_dir():
            mode = real.stat().st_mode
        else:
            self._held = os.open(real, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            mode = os.fstat(self._held).st_mode
        if not stat.S_ISSOCK(mode):
            self.close()
            raise LaunchError(f"the plugin says that it listens at {named!r}, but that is no socket")
        if self._held is not None:
            self.path = f"{_OWN_DESCRIPTORS}/{self._held}"
