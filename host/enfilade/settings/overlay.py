"""Settings that environment variables put over those of a file."""

import logging
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from enfilade.errors import ConfigError
from enfilade.settings.faults import Place

PREFIX = "ENFILADE_"
"""Variables that overlay the file: `ENFILADE_DEFAULT_MODEL`, `ENFILADE_MODELS__NAME__BASE_URL`, ..."""

OWN_VARIABLES = frozenset(
    {
        "ENFILADE_CONFIG",
        "ENFILADE_CONTROL_GROUP",
        "ENFILADE_DATA_DIR",
        "ENFILADE_PLUGINS_DIR",
        "ENFILADE_RUNTIME_DIR",
        "ENFILADE_LOAD_PLUGINS",
        "ENFILADE_PLUGIN",
        "ENFILADE_LAUNCH",
    }
)
"""Variables with that prefix that are no settings."""

SHORT = {"ENFILADE_LOG": "log_format"}
"""Variables that name a setting otherwise than by its place."""

_LOOKS_LIKE = 0.9
_log = logging.getLogger(__name__)


def overlay(values: dict[str, Any], variables: Mapping[str, str], settings: Collection[str]) -> dict[Place, str]:
    """Puts `ENFILADE_A__B=value` over `values["a"]["b"]`; a value that is TOML is read as such.

    Args:
        values: The file's.
        variables: The environment.
        settings: The names of the outermost settings. A variable that begins with none of them is somebody else's.

    Returns:
        The variables that were put over something, by the places of their settings.

    Raises:
        ConfigError: A variable names something in a setting that is no table.
    """
    short = {field: name for name, field in SHORT.items() if variables.get(name)}
    values |= {field: variables[name] for field, name in short.items()}
    sources: dict[Place, str] = {(field,): name for field, name in short.items()}
    for name, text in variables.items():
        if not name.startswith(PREFIX) or name in OWN_VARIABLES or name in SHORT:
            continue
        place = tuple(name.removeprefix(PREFIX).lower().split("__"))
        if place[0] not in settings:
            _warn_of(name, settings)
            continue
        *path, last = _as_written(values, place)
        _table(values, path, name)[last] = _toml_value(text)
        sources[(*path, last)] = name
    return sources


def _as_written(values: Any, place: Sequence[str]) -> list[str]:
    """The place with the file's own names of tables: a variable's name has no `-`, no `.` and no case."""
    written = []
    for part in place:
        inner = values if isinstance(values, dict) else {}
        key = next((key for key in inner if re.sub("[-.]", "_", key).lower() == part), part)
        written.append(part if part in inner else key)
        values = inner.get(written[-1])
    return written


def _table(values: dict[str, Any], path: Sequence[str], name: str) -> dict[str, Any]:
    for part in path:
        inner = values.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{name}: the setting {part!r} is no table, so nothing in it can be set")
        values = inner
    return values


def _warn_of(name: str, settings: Collection[str]) -> None:
    """Tells of a variable that is probably a misspelt setting."""
    head, *rest = name.removeprefix(PREFIX).split("__")
    if close := get_close_matches(head.lower(), settings, n=1, cutoff=_LOOKS_LIKE):
        meant = PREFIX + "__".join([close[0].upper(), *rest])
        _log.warning("%s is no setting and is not looked at; did you mean %s?", name, meant)


def _toml_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
