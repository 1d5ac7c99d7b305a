"""Compiling an environment's modules, so that a plugin that may not write there starts as fast as one that may.

It is the environment's base interpreter that compiles, without its site: the environment's own would run the `.pth`
files that were just installed. The byte code is not checked against its source at each import, for the whole tree is
checked at launch; so it also survives a copy that changes the files' times.

Compiling an SDK's worth of modules takes longer than installing them, so byte code is kept by the hash of its source
and the Python that made it. Only this module writes there, and only what the base interpreter made of just that source
before any code of a plugin ran; so no plugin can put its byte code under another's source.
"""

import asyncio
import contextlib
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from enfilade.environments.command import Place, run_command
from enfilade.environments.interpreter import Interpreter
from enfilade.environments.sources import tool_environment
from enfilade.environments.staging import to_the_end
from enfilade.environments.tree import Files

_JOBS = 4
_WRITERS = 2
"""Threads that put kept byte code in its places; a file system takes longer to make a file than to fill it."""

_DIGEST_BYTES = 32
_DAYS_KEPT = 90
_DAY = 86_400.0


class Bytecode:
    """Compiles environments, with the help of what was compiled before.

    Args:
        cache: The folder in which byte code is kept.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    async def compile(self, venv: Path, files: Files, interpreter: Interpreter, place: Place) -> None:
        """Writes byte code for every module that compiles; what does not is the plugin's matter when it imports it.

        Args:
            venv: The environment, just installed.
            files: What is in it.
            interpreter: The Python that it was made with.
            place: Where to run the compiler.

        Raises:
            OSError: Byte code cannot be written into the environment.
        """
        kept = self._cache / str(interpreter.version)
        sources = {venv / path: content.split(" ")[2] for path, content in files.items() if _is_module(path, content)}
        missing = await to_the_end(lambda: _reuse(sources, kept, interpreter))
        if not missing:
            return
        listing = place.folder / "modules.txt"
        listing.write_text("".join(f"{path}\n" for path in missing), encoding="utf-8", errors="surrogateescape")
        jobs = str(min(_JOBS, os.cpu_count() or 1))
        words = ["-I", "-S", "-m", "compileall", "-q", "-q", "-j", jobs, "--invalidation-mode", "unchecked-hash", "-i"]
        await run_command([interpreter.path, *words, listing], tool_environment(), place)
        listing.unlink()
        await asyncio.to_thread(_keep, missing, kept, interpreter)


def _is_module(path: str, content: str) -> bool:
    return content.startswith("f ") and path.endswith(".py") and "/site-packages/" in path and "\n" not in path


def _compiled(source: Path, interpreter: Interpreter) -> Path:
    major, minor = interpreter.version.release[:2]
    return source.parent / "__pycache__" / f"{source.stem}.cpython-{major}{minor}.pyc"


def _reuse(sources: Mapping[Path, str], kept: Path, interpreter: Interpreter) -> dict[Path, str]:
    """Puts kept byte code where it belongs; gives the sources for which there is none."""
    targets = {source: _compiled(source, interpreter) for source in sources}
    for folder in {target.parent for target in targets.values()}:
        folder.mkdir(exist_ok=True)

    def reuse(part: list[Path]) -> dict[Path, str]:
        return {source: sources[source] for source in part if not _put(kept, sources[source], targets[source])}

    known = [*sources]
    with ThreadPoolExecutor(_WRITERS) as writers:  # also when one fails, none of them writes after this
        done = writers.map(reuse, [known[first::_WRITERS] for first in range(_WRITERS)])
    return {source: digest for missing in done for source, digest in missing.items()}


def _put(kept: Path, digest: str, target: Path) -> bool:
    code = _read(f"{kept}/{digest[:2]}/{digest}")
    if code is None:
        return False
    target.write_bytes(code)
    return True


def _read(path: str) -> bytes | None:
    """Kept byte code, if it is whole."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - hundreds are read
            data = file.read()
            if time.time() - os.fstat(file.fileno()).st_mtime > _DAY:
                os.utime(path)
    except OSError:
        return None
    code = data[_DIGEST_BYTES:]
    return code if hashlib.sha256(code).digest() == data[:_DIGEST_BYTES] else None


def _keep(sources: Mapping[Path, str], kept: Path, interpreter: Interpreter) -> None:
    """Keeps what was compiled, and drops what was not used for long. A cache that cannot be written is no failure."""
    with contextlib.suppress(OSError):
        for source, digest in sources.items():
            with contextlib.suppress(FileNotFoundError):  # it does not compile
                code = _compiled(source, interpreter).read_bytes()
                path = kept / digest[:2] / digest
                path.parent.mkdir(parents=True, exist_ok=True)
                beside = path.with_suffix(f".{os.getpid()}")
                beside.write_bytes(hashlib.sha256(code).digest() + code)
                beside.replace(path)
        for path in _unused(kept.parent):
            path.unlink(missing_ok=True)


def _unused(cache: Path) -> Iterator[Path]:
    oldest = time.time() - _DAYS_KEPT * _DAY
    for path in cache.glob("*/*/*"):
        if path.stat().st_mtime < oldest:
            yield path
