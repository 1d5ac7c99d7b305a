"""Compiles what only plugins' processes import, for these may not write byte code themselves.

Installers such as uv leave it uncompiled; then every start would compile the same modules again, some 45 ms each time.
"""

import contextlib
import importlib.util
import os
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from enfilade.isolation.environment import interpreter_environment
from enfilade.isolation.sandbox import entrance
from enfilade.isolation.sandbox.confinement import VARIABLE

SERVING = "enfilade_sdk.serving.process"
"""The module of the SDK that a process begins with."""

COMPILE_SECONDS, COMPILE_MEMORY = 60, 1024 * 1024 * 1024
"""What compiling a package may take of the processor and of memory: a plugin's source can be made to take all."""


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
            _compile(package)


def _compile(package: Path) -> None:
    """Compiles a package in a process apart, which ends with this one; the host does not even read a plugin's code."""
    limits = ((resource.RLIMIT_CPU, COMPILE_SECONDS), (resource.RLIMIT_DATA, COMPILE_MEMORY))
    steps = "\n".join(f"limit {kind} {most} {most}" for kind, most in limits)
    if sys.platform == "linux":
        steps = f"parent {os.getpid()}\n{steps}"
    kept = [f"-Xpycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
    python = [sys.executable, "-I", "-S"]
    command = [*python, entrance.__file__, entrance.PROGRAM, *python, *kept, "-m", "compileall", "-qq", str(package)]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command,
            env=interpreter_environment() | {VARIABLE: steps},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=2 * COMPILE_SECONDS,
            cwd="/",
        )


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
