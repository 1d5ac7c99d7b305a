"""Reads specs: the texts that name tools on the command line and in an agent's set-up."""

import re
from collections.abc import Container
from dataclasses import dataclass

from enfilade_sdk.errors import InvalidParamsError

_FILE = re.compile(r"(?P<path>.*\.py)(?::(?P<functions>[^/\\]*))?\Z", re.DOTALL)
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")


@dataclass(frozen=True, slots=True)
class NamedSpec:
    """`calculator`, `read_file:FOLDER`: a name, and what follows its colon."""

    name: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class FileSpec:
    """`tools.py`, `tools.py:weather`, `tools.py:weather,tide`: functions of a file."""

    path: str
    functions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModuleSpec:
    """`package.module:weather`: functions of a module."""

    module: str
    functions: tuple[str, ...]


def read_spec(text: str, kinds: Container[str] = ()) -> NamedSpec | FileSpec | ModuleSpec:
    """Reads a spec. A first word that is a known kind wins over a module of that name.

    Args:
        text: The spec.
        kinds: The first words that are kinds of sources.

    Raises:
        InvalidParamsError: It has none of the forms; the text shows them.
    """
    spec = text.strip()
    head, colon, rest = spec.partition(":")
    if head in kinds:
        return NamedSpec(head, rest.strip())
    if match := _FILE.match(spec):
        return FileSpec(match["path"], _functions(match["functions"], spec))
    if colon and _DOTTED.match(head) and rest.strip():
        return ModuleSpec(head, _functions(rest, spec))
    if spec and not colon:
        return NamedSpec(spec)
    raise InvalidParamsError(
        f"{text!r} names no tool; expected a name such as calculator, FILE.py:FUNCTION, FILE.py, or MODULE:FUNCTION"
    )


def _functions(names: str | None, spec: str) -> tuple[str, ...]:
    if names is None:
        return ()
    found = tuple(name.strip() for name in names.split(","))
    wrong = [name for name in found if not _DOTTED.match(name)]
    if wrong:
        raise InvalidParamsError(f"{spec!r}: {wrong[0]!r} is not the name of a function; write FILE.py:FUNCTION")
    return found
