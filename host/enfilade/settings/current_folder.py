"""The folder that relative paths start from."""

from pathlib import Path

from enfilade.errors import ConfigError


def absolute(path: Path) -> Path:
    """A path as it is meant here, with `~` for the user's home; nothing is asked of the disk.

    Raises:
        ConfigError: It starts from the current folder, and that was deleted or cannot be reached.
    """
    path = path.expanduser()
    return path if path.is_absolute() else current_folder() / path


def current_folder() -> Path:
    """The current folder.

    Raises:
        ConfigError: It was deleted, or cannot be reached.
    """
    try:
        return Path.cwd()
    except OSError as error:
        reason = "was deleted" if isinstance(error, FileNotFoundError) else f"cannot be reached: {error.strerror}"
        raise ConfigError(f"the current folder {reason}; change to one that is there (cd)") from None
