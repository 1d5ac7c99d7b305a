"""TOML files: which one is the configuration, and what one says."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from enfilade.errors import ConfigError


def toml_key(name: str) -> str:
    """A name as it stands in a TOML table's head: quoted where it is more than letters, digits, dashes."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's values.

    Raises:
        ConfigError: It cannot be read, or is not TOML; the text says where.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: expected UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None


def config_file(variables: Mapping[str, str]) -> Path | None:
    """The configuration file there is: `ENFILADE_CONFIG`, `./enfilade.toml`, the user's configuration folder."""
    if named := variables.get("ENFILADE_CONFIG"):
        return Path(named)
    home = variables.get("XDG_CONFIG_HOME") or f"{variables.get('HOME', '')}/.config"
    places = (Path("enfilade.toml"), Path(home) / "enfilade" / "config.toml")
    return next((place for place in places if place.is_file()), None)
