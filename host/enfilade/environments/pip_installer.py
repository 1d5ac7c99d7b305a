"""Installing with the standard library's venv and pip, where there is no uv. Slower, with the same checks."""

import json
from collections.abc import Sequence
from pathlib import Path

from enfilade.environments.command import Ended, Place, run_command
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.installer import Request, check_ended
from enfilade.environments.interpreter import Interpreter
from enfilade.environments.pin import Pin, pins_of_report, requirements_text
from enfilade.environments.sources import Sources, tool_environment

_SETTINGS = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "NO_COLOR": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}


class PipInstaller:
    """Makes environments with `venv` and `pip` of the Python that the environment is for."""

    label = "pip"

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._environment = tool_environment() | _SETTINGS

    async def build(self, source: Path, interpreter: Interpreter, folder: Path, place: Place) -> None:
        """See `Installer`."""
        words: list[str | Path] = ["wheel", "--no-deps", "--wheel-dir", folder, *self._where(), source]
        check_ended(await self._pip(interpreter, words, place), "pip", f"build {source}", allow_build=True)

    async def resolve(self, request: Request, place: Place) -> tuple[Pin, ...]:
        """See `Installer`."""
        asked, report = place.folder / "requirements.in", place.folder / "report.json"
        asked.write_text("".join(f"{line}\n" for line in request.requirements), encoding="utf-8")
        words: list[str | Path] = ["install", "--dry-run", "--ignore-installed", "--quiet", "--report", report]
        ended = await self._pip(request.interpreter, [*words, *self._for(request), "-r", asked], place)
        check_ended(ended, "pip", f"find what {request.plugin} needs", allow_build=request.allow_build)
        return pins_of_report(json.loads(report.read_text(encoding="utf-8")))

    async def create(self, venv: Path, interpreter: Interpreter, place: Place) -> None:
        """See `Installer`."""
        words: list[str | Path] = [interpreter.path, "-I", "-m", "venv", "--without-pip", venv]
        ended = await run_command(words, self._environment, place)
        check_ended(ended, "venv", f"make an environment with {interpreter.path}", allow_build=False)

    async def install(self, venv: Path, request: Request, pins: tuple[Pin, ...], place: Place) -> None:
        """See `Installer`."""
        pinned = place.folder / "requirements.txt"
        pinned.write_text(requirements_text(pins), encoding="utf-8")
        words: list[str | Path] = [
            "--python",
            venv / "bin" / "python",
            "install",
            "--require-hashes",
            "--no-deps",
            "--no-compile",
        ]
        ended = await self._pip(request.interpreter, [*words, *self._for(request), "-r", pinned], place)
        check_ended(ended, "pip", f"install {request.plugin}", allow_build=request.allow_build)

    def _for(self, request: Request) -> list[str]:
        return [*([] if request.allow_build else ["--only-binary", ":all:"]), *self._where(request.find_links)]

    def _where(self, more: tuple[Path, ...] = ()) -> list[str]:
        alone = self._sources.offline and not self._sources.no_index
        words = [word for place in self._sources.places(more) for word in ("--find-links", str(place))]
        return words + self._sources.index_options() + (["--no-index"] if alone else [])

    async def _pip(self, interpreter: Interpreter, words: Sequence[str | Path], place: Place) -> Ended:
        ended = await run_command([interpreter.path, "-I", "-m", "pip", *words], self._environment, place)
        if ended.code and any("No module named pip" in line for line in ended.lines):
            raise InstallError(
                Reason.NO_INSTALLER,
                f"there is neither uv nor pip: expected the package uv beside the host, or pip in {interpreter.path}; "
                "install one of them",
            )
        return ended
