"""Compiles what only plugins' processes import, for these may not write byte code themselves.

Installers such as uv leave it uncompiled; then every start would compile the same modules again, some 45 ms each time.
"""

import compileall
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

SERVING = "enfilade_sdk.serving.process"
"""The module of the SDK that a process begins with."""


def compile_missing(modules: Iterable[str]) -> None:
    """Compiles the whole package of each module whose byte code is missing; what cannot be written is left.

    Args:
        modules: Full names; nothing of them is imported.
    """
    if sys.dont_write_bytecode:
        return
    for module in dict.fromkeys((SERVING, *modules)):
        package = _package_of(module)
        if package is not None and not _is_compiled(package, module):
            compileall.compile_dir(package, quiet=2)


def _package_of(module: str) -> Path | None:
    """The folder of the top package that a module is in; None where there is no such folder."""
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if len(places) == 1 else None


def _is_compiled(package: Path, module: str) -> bool:
    """Whether it is there, or is no file of its own that could be compiled."""
    source = package.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return not source.is_file() or Path(importlib.util.cache_from_source(str(source))).exists()
