"""Making one environment, from what was asked to a plugin that was opened in it. Recording it is not done here."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from enfilade.candidate import Candidate, OwnEnvironment
from enfilade.environments.archive import WheelFacts, check_wheel
from enfilade.environments.bytecode import Bytecode
from enfilade.environments.command import Place
from enfilade.environments.entry import PluginEntry, site_packages
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.installer import Installer, Request
from enfilade.environments.interpreter import Interpreter, find_interpreter
from enfilade.environments.offers import Offered, read_offers
from enfilade.environments.order import Order, StepName
from enfilade.environments.pin import Pin
from enfilade.environments.sdk import Sdk
from enfilade.environments.tree import Tree, differences, read_tree, save_tree
from enfilade_sdk.errors import EnfiladeError

if TYPE_CHECKING:  # its models take longer to load than the installer to begin, and are the opener's matter
    from enfilade_sdk.contract import StrategyDescription

_CHANGING = frozenset({".lock"})
"""Files of an empty environment that an installer may touch: its own lock."""


@dataclass(frozen=True, slots=True)
class _Wheel:
    """A plugin's wheel in the environment's folder, checked."""

    path: Path
    facts: WheelFacts


class Construction:
    """One environment in the making. Whatever it raises, what is left of it is rubbish for the sweep."""

    def __init__(self, order: Order, place: Place, installer: Installer, sdk: Sdk, bytecode: Bytecode) -> None:
        self._order = order
        self._bytecode = bytecode
        self._folder = place.folder
        self._place = place
        self._venv = place.folder / "venv"
        self._wheels = place.folder / "wheels"
        self._installer = installer
        self._sdk = sdk

    async def made(self) -> PluginEntry:
        """Goes all the steps.

        Raises:
            InstallError: One failed.
        """
        wheel, interpreter = await self._beginning()
        name = wheel.facts.name if wheel else self._order.spec.name
        pins, installed = await self._installed(name, wheel, interpreter)
        offered = read_offers(self._venv, name)
        self._order.tell("compile", "compiling its modules")
        await self._bytecode.compile(self._venv, installed.files, interpreter, self._at("compile"))
        tree = await asyncio.to_thread(read_tree, self._venv, installed)
        save_tree(self._folder, tree)
        descriptions = await self._opened(offered, tree, interpreter)
        return PluginEntry(
            name=offered.name,
            version=offered.version,
            spec=self._order.spec.text,
            enabled=True,
            folder=self._folder,
            interpreter=str(interpreter.path),
            python_version=str(interpreter.version),
            allow_build=self._order.allow_build,
            installer=self._installer.label,
            installed=datetime.now(UTC).isoformat(timespec="seconds"),
            tree=tree.digest,
            packages=tuple(pin.package for pin in pins),
            offers=offered.offers,
            descriptions=tuple(d.model_dump(mode="json", exclude_defaults=True) for d in descriptions),
        )

    async def _beginning(self) -> tuple[_Wheel | None, Interpreter]:
        """The plugin's wheel, as far as there is a file, and the Python for it."""
        spec = self._order.spec
        if spec.path is None:
            return None, await self._interpreter("")
        if spec.kind == "wheel":
            facts = await self._checked(spec.path)
            self._wheels.mkdir()
            copy = Path(await asyncio.to_thread(shutil.copyfile, spec.path, self._wheels / spec.path.name))
            return _Wheel(copy, facts), await self._interpreter(facts.requires_python)
        if not self._order.allow_build:
            raise InstallError(
                Reason.BUILD_REFUSED,
                f"{spec.path} has to be built, which runs its code with your rights, and that was not allowed; "
                "allow it (--allow-build), or give a wheel",
            )
        interpreter = await self._interpreter("")
        return await self._built(spec.path, interpreter), interpreter

    async def _interpreter(self, requires_python: str) -> Interpreter:
        found = await find_interpreter(self._order.python, self._place, requires_python)
        self._order.tell("python", f"Python {found.version} ({found.path})")
        return found

    async def _built(self, source: Path, interpreter: Interpreter) -> _Wheel:
        self._order.tell("build", f"building {source}")
        self._wheels.mkdir()
        await self._installer.build(source, interpreter, self._wheels, self._at("build"))
        built = sorted(self._wheels.glob("*.whl"))
        if len(built) != 1:
            raise InstallError(
                Reason.INSTALLER_FAILED, f"building {source} was to give one wheel and gave {len(built)}; see its build"
            )
        return _Wheel(built[0], await self._checked(built[0]))

    async def _checked(self, wheel: Path) -> WheelFacts:
        self._order.tell("check", f"checking {wheel.name}")
        return await asyncio.to_thread(check_wheel, wheel, self._order.limits)

    async def _installed(
        self, name: str, wheel: _Wheel | None, interpreter: Interpreter
    ) -> tuple[tuple[Pin, ...], Tree]:
        """Makes the virtual environment, resolves meanwhile, and installs into it; gives what was installed."""
        request = self._request(name, wheel, interpreter)
        self._order.tell("create", "making its environment")
        self._order.tell("resolve", f"finding what {name} needs")
        try:
            async with asyncio.TaskGroup() as both:
                resolving = both.create_task(self._resolved(request, wheel))
                creating = both.create_task(self._created(interpreter))
        except BaseExceptionGroup as failed:  # what the one raised ended the other
            raise failed.exceptions[0] from None
        pins, empty = resolving.result(), creating.result()
        self._order.tell("install", f"installing {len(pins)} packages")
        await self._installer.install(self._venv, request, pins, self._at("install"))
        installed = await asyncio.to_thread(read_tree, self._venv, empty)
        _check_installed(empty, installed)
        shutil.rmtree(self._wheels, ignore_errors=True)
        for rest in ("requirements.in", "requirements.txt", "pylock.toml", "report.json"):
            (self._folder / rest).unlink(missing_ok=True)
        return pins, installed

    async def _resolved(self, request: Request, wheel: _Wheel | None) -> tuple[Pin, ...]:
        found = await self._installer.resolve(request, self._at("resolve"))
        pins = tuple(pin.narrowed(self._sdk.folder) for pin in found)
        await self._check_local(pins, wheel)
        return pins

    async def _created(self, interpreter: Interpreter) -> Tree:
        await self._installer.create(self._venv, interpreter, self._at("create"))
        return await asyncio.to_thread(read_tree, self._venv)

    def _request(self, name: str, wheel: _Wheel | None, interpreter: Interpreter) -> Request:
        plugin = f"{name} @ {wheel.path.as_uri()}" if wheel else self._order.spec.requirement
        return Request(
            plugin=name,
            requirements=(plugin, self._sdk.requirement),
            find_links=(self._sdk.folder,),
            interpreter=interpreter,
            allow_build=self._order.allow_build,
        )

    async def _check_local(self, pins: Sequence[Pin], wheel: _Wheel | None) -> None:
        """Checks the wheels that come from files before anything reads them; the resolver has read their metadata."""
        local = [item for pin in pins for item in pin.local_wheels.items() if item[0].parent != self._sdk.folder]
        others = [path for path, _ in local if wheel is None or path != wheel.path]
        checked = await asyncio.gather(*map(self._checked, others))
        found = {path: facts.sha256 for path, facts in zip(others, checked, strict=True)}
        if wheel is not None:
            found[wheel.path] = wheel.facts.sha256
        for path, digest in local:
            if found[path] != digest:
                raise InstallError(
                    Reason.UNSAFE_ARCHIVE, f"{path} was changed while it was being installed; nothing was changed"
                )

    async def _opened(self, offered: Offered, tree: Tree, interpreter: Interpreter) -> "list[StrategyDescription]":
        """Opens the plugin in its environment, checks its strategies, and that opening left the environment alone."""
        self._order.tell("open", f"opening {offered.name} {offered.version}")
        candidate = Candidate(
            plugin=offered.name,
            version=offered.version,
            origin=f"{offered.name} {offered.version} ({self._venv})",
            offers=offered.offers,
            python=str(self._venv / "bin" / "python"),
            own_environment=OwnEnvironment(
                self._folder, site_packages(self._venv, str(interpreter.version)), lambda: None
            ),
        )
        try:
            descriptions = list(await self._order.opener(candidate))
            for description in descriptions:
                description.check_admitted()
        except EnfiladeError as error:
            raise InstallError(
                Reason.NOT_OPENED,
                f"{offered.name} {offered.version} could be installed but not opened, so nothing was changed: "
                f"{error.message}",
                {"cause": {"code": str(error.code), **error.details}},
            ) from error
        self._check_opened(offered, descriptions)
        if changes := differences(tree.files, (await asyncio.to_thread(read_tree, self._venv, tree)).files):
            raise InstallError(
                Reason.NOT_OPENED,
                f"{offered.name} {offered.version} changed its own environment when it was opened, so nothing was "
                f"changed: {'; '.join(changes[:5])}; a plugin keeps its files elsewhere",
                {"changes": changes[:50]},
            )
        return descriptions

    def _check_opened(self, offered: Offered, descriptions: "Sequence[StrategyDescription]") -> None:
        promised, there = {o.name for o in offered.offers}, {d.name for d in descriptions}
        if promised != there:
            raise InstallError(
                Reason.NOT_OPENED,
                f"{offered.name} {offered.version} was expected to offer {', '.join(sorted(promised))}, as its entry "
                f"points say, and offers {', '.join(sorted(there)) or 'nothing'}; nothing was changed",
            )

    def _at(self, step: StepName) -> Place:
        return replace(self._place, listener=lambda line: self._order.tell(step, line))


def _check_installed(empty: Tree, installed: Tree) -> None:
    """Refuses packages that changed the environment's own files, or brought links."""
    own = {path: installed.files[path] for path in empty.files.keys() & installed.files.keys()}
    changes = [change for change in differences(empty.files, own) if change.split(" ")[0] not in _CHANGING]
    links = [path for path, content in installed.files.items() if content.startswith("l ") and path not in empty.files]
    changes += [f"{path} is a link" for path in links]
    if changes:
        raise InstallError(
            Reason.UNSAFE_ARCHIVE,
            "a package changes what belongs to the environment itself, so nothing was changed: "
            + "; ".join(changes[:5]),
            {"changes": changes[:50]},
        )
