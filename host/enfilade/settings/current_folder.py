"""The folder that relative paths start from."""

from pathlib import Path

from enfilade.errors import ConfigError


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
