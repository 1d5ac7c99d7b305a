"""Installing with uv."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from importlib_metadata import distribution

from enfilade.environments.command import Ended, Place, run_command
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.installer import Request, check_ended, did_nothing
from enfilade.environments.interpreter import Interpreter
from enfilade.environments.pin import Pin, pins_of_pylock, requirements_text
from enfilade.environments.sources import Sources, tool_environment
from enfilade.metadata import version_of

_SKIPPED = "Skipping unsafe file name"
"""What uv says, when it is asked for warnings, of a member that it leaves out of what it unpacks."""

_SETTINGS = {
    "UV_NO_CONFIG": "1",
    "UV_PYTHON_DOWNLOADS": "never",
    "UV_LINK_MODE": "copy",  # hard links into its cache would let one plugin change another's files
    "UV_NO_PROGRESS": "1",
    "NO_COLOR": "1",
    "RUST_LOG": "uv_extract=warn",
}


def find_uv() -> Path | None:
    """The uv that the package of that name brings; None when it is not installed, broken, or not for this platform."""
    if find_spec("uv") is None:
        return None
    try:
        import uv

        return Path(uv.find_uv_bin())
    except (ImportError, AttributeError, FileNotFoundError):
        return None


_LINKS = "UV_FIND_LINKS"
"""The variable for folders of wheels, with commas. An option for them would make uv pass over the operator's own."""


class UvInstaller:
    """Makes environments with uv; nothing is built unless that is allowed, and no link leads into uv's cache."""

    def __init__(self, binary: Path, sources: Sources) -> None:
        self._binary = binary
        self._sources = sources
        self._environment = tool_environment() | _SETTINGS

    @property
    def label(self) -> str:
        """`uv` and its version."""
        return f"uv {version_of(distribution('uv'))}"

    async def build(self, source: Path, interpreter: Interpreter, folder: Path, place: Place) -> None:
        """See `Installer`."""
        words: list[str | Path] = [
            "build",
            "--wheel",
            "--no-sources",
            "--python",
            interpreter.path,
            "--out-dir",
            folder,
            source,
        ]
        ended = await self._run([*words, *self._where()], place, self._links())
        check_ended(ended, "uv", f"build {source}", allow_build=True)

    async def resolve(self, request: Request, place: Place) -> tuple[Pin, ...]:
        """See `Installer`. Where an index has no metadata apart, this unpacks the archives already."""
        asked, found = place.folder / "requirements.in", place.folder / "pylock.toml"
        asked.write_text("".join(f"{line}\n" for line in request.requirements), encoding="utf-8")
        words: list[str | Path] = ["pip", "compile", "--quiet", "--no-sources", "--no-header", "--no-annotate"]
        words += ["--format", "pylock.toml", "--output-file", found]
        unsafe: list[str] = []
        where = [*words, *self._for(request), "--python", request.interpreter.path, asked]
        ended = await self._run(where, _overheard(place, unsafe), self._links(request.find_links))
        check_ended(ended, "uv", f"find what {request.plugin} needs", allow_build=request.allow_build)
        if not found.exists():
            raise did_nothing("uv", "was to write down what it found and wrote nothing")
        pins = pins_of_pylock(found.read_text(encoding="utf-8"), place.folder)
        await self._check_safe(request, pins, unsafe, place)
        return pins

    async def create(self, venv: Path, interpreter: Interpreter, place: Place) -> None:
        """See `Installer`. uv also looks at the new Python already, and keeps what it finds for the installation."""
        ended = await self._run(["venv", "--quiet", "--no-project", "--python", interpreter.path, venv], place)
        check_ended(ended, "uv", f"make an environment with {interpreter.path}", allow_build=False)
        if not os.access(venv, os.X_OK):
            raise did_nothing("uv", "was to make an environment and made none")
        await self._run(["python", "find", "--quiet", "--no-project", venv / "bin" / "python"], place)

    async def install(self, venv: Path, request: Request, pins: tuple[Pin, ...], place: Place) -> None:
        """See `Installer`."""
        pinned = place.folder / "requirements.txt"
        pinned.write_text(requirements_text(pins), encoding="utf-8")
        words: list[str | Path] = [
            "pip",
            "install",
            "--require-hashes",
            "--no-deps",
            "--no-sources",
            "--python",
            venv / "bin" / "python",
        ]
        unsafe: list[str] = []
        where = [*words, *self._for(request), "-r", pinned]
        ended = await self._run(where, _overheard(place, unsafe), self._links(request.find_links))
        await self._check_safe(request, pins, unsafe, place)
        check_ended(ended, "uv", f"install {request.plugin}", allow_build=request.allow_build)

    async def _check_safe(self, request: Request, pins: tuple[Pin, ...], unsafe: list[str], place: Place) -> None:
        """Refuses the whole when uv left a member out of what it unpacked."""
        if unsafe:
            await self._forget(pins, place)
            raise InstallError(
                Reason.UNSAFE_ARCHIVE,
                f"an archive that {request.plugin} needs has a member that must not be unpacked, so nothing was "
                f"installed: {unsafe[0]}; tell its author",
            )

    async def _forget(self, pins: tuple[Pin, ...], place: Place) -> None:
        """Takes the archives out of uv's cache, where it has them without the member: the next try must see it too."""
        await self._run(["cache", "clean", "--force", *(pin.name for pin in pins)], replace(place, seconds=60.0))

    def _for(self, request: Request) -> list[str]:
        return [*([] if request.allow_build else ["--no-build"]), *self._where()]

    def _where(self) -> list[str]:
        return self._sources.index_options() + (["--offline"] if self._sources.offline else [])

    def _links(self, more: tuple[Path, ...] = ()) -> dict[str, str]:
        places = [place.as_uri() if isinstance(place, Path) else place for place in self._sources.places(more)]
        own = self._environment.get(_LINKS)
        return {_LINKS: ",".join([*places, *([own] if own else [])])} if places else {}

    async def _run(
        self, words: Sequence[str | Path], place: Place, variables: Mapping[str, str] | None = None
    ) -> Ended:
        return await run_command([self._binary, *words], self._environment | dict(variables or {}), place)


def _overheard(place: Place, unsafe: list[str]) -> Place:
    def listen(line: str) -> None:
        if _SKIPPED in line:
            unsafe.append(line.partition(_SKIPPED)[2].strip(": "))
        elif place.listener is not None:
            place.listener(line)

    listener: Callable[[str], None] = listen
    return replace(place, listener=listener)
