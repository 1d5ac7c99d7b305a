"""The installed plugins, and how they come to be: added, updated. What fails changes nothing that worked."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

from packaging.requirements import Requirement

from enfilade.environments.bytecode import Bytecode
from enfilade.environments.command import Place
from enfilade.environments.construction import Construction
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import InstallError, Reason, SpecError
from enfilade.environments.installed import Entries, InstalledPlugins
from enfilade.environments.installer import Installer
from enfilade.environments.order import Opener, Order, Progress
from enfilade.environments.pip_installer import PipInstaller
from enfilade.environments.sdk import Sdk, host_sdk
from enfilade.environments.sources import Sources
from enfilade.environments.spec import parse_spec
from enfilade.environments.staging import Staging, disk_faults, to_the_end
from enfilade.environments.uv_installer import UvInstaller, find_uv

CLEAR_SECONDS = 2.0
"""Seconds in which what a failed installation began is to be gone; the next start of a host clears the rest."""


class PluginStore(InstalledPlugins):
    """The plugins below one root folder, with what it takes to install some.

    Args:
        root: The folder; None is `ENFILADE_PLUGINS_DIR`, else the user's data folder.
        sources: Where packages come from.
        installer: The tool; None is uv, or pip where there is no uv.
        sdk: What every environment gets beside the plugin; None is the host's own SDK.
    """

    def __init__(
        self,
        root: Path | None = None,
        sources: Sources | None = None,
        *,
        installer: Installer | None = None,
        sdk: Sdk | None = None,
    ) -> None:
        super().__init__(root)
        self._sources = sources or Sources()
        self._installer = installer
        self._sdk = sdk

    async def add(
        self,
        spec: str,
        opener: Opener,
        *,
        python: str | None = None,
        allow_build: bool = False,
        progress: Progress | None = None,
    ) -> PluginEntry:
        """Installs a plugin in an environment of its own, opens it there, and records it.

        Args:
            spec: `NAME`, `NAME==V`, or the path of a wheel, a source archive or a folder.
            opener: How to open it for the check.
            python: The Python for it: a path, or a version such as `3.12`. None is the host's, or one that fits.
            allow_build: Whether build code may run. A folder or source archive needs it.
            progress: Told each step.

        Raises:
            InstallError: A step failed, or it is installed already; nothing was changed.
        """
        order = Order(parse_spec(spec), opener, python, allow_build, progress)
        return await self._install(order, _check_absent, order.spec.name)

    async def update(
        self,
        name: str,
        opener: Opener,
        *,
        spec: str | None = None,
        python: str | None = None,
        allow_build: bool = False,
        progress: Progress | None = None,
    ) -> PluginEntry:
        """Makes a new environment beside the old and puts it in its place; who runs the old one finishes on it.

        Args:
            name: The installed plugin.
            opener: How to open it for the check.
            spec: What to install; None is the newest of the same name, or the same file or folder again.
            python: The Python for it; None is the one it has.
            allow_build: Whether build code may run.
            progress: Told each step.

        Raises:
            InstallError: A step failed; the old version is as it was.
        """
        old = self.entry(name)
        parsed = parse_spec(spec if spec is not None else _newest(old.spec))
        if parsed.name not in ("", old.key):
            raise SpecError(
                Reason.SPEC, f"expected a version of {old.name!r} to update it, got {parsed.name!r}; add that instead"
            )
        kept = old.interpreter if os.access(old.interpreter, os.X_OK) else None
        order = Order(parsed, opener, python or kept, allow_build, progress)
        return await self._install(order, _check_present, old.key)

    async def _install(self, order: Order, check: Callable[[Entries, str], None], name: str) -> PluginEntry:
        staging = Staging()
        try:
            with disk_faults(self.root):
                await to_the_end(lambda: self._begin(staging, order, check, name))
                assert staging.hold is not None and staging.sdk is not None  # noqa: PT018 - begun together
                place = Place(staging.folder, staging.hold)
                entry = await Construction(
                    order, place, self._tool(), staging.sdk, Bytecode(self._folders.bytecode)
                ).made()
                order.tell("record", f"recording {entry.name} {entry.version}")
                recorded = await to_the_end(lambda: self._record(entry, check))
        except BaseException:
            await self._leave(staging, CLEAR_SECONDS)
            raise
        await self._leave(staging, 0.0)
        return recorded

    async def _leave(self, staging: Staging, seconds: float) -> None:
        """Gives back what an installation has taken, and sweeps until its folder is gone or the time is over.

        A command that was ended with it may hold the folder a moment longer.
        """
        if staging.hold is not None:
            staging.hold.release()
        deadline = monotonic() + (seconds if staging.hold is not None else 0.0)
        while True:
            with suppress(InstallError):  # what happened before is what to tell; the next start sweeps
                await to_the_end(self.sweep)
            if monotonic() >= deadline or not staging.folder.exists():
                return
            await asyncio.sleep(0.01)

    def _begin(self, staging: Staging, order: Order, check: Callable[[Entries, str], None], name: str) -> None:
        with self._lock.guard():
            entries = self._lock.read()
            self._swept(entries)
            if name:
                check(entries, name)
            staging.folder, staging.hold = self._folders.new_environment(order.spec.label)
            staging.sdk = self._sdk or host_sdk(self._folders.sdk)

    def _record(self, entry: PluginEntry, check: Callable[[Entries, str], None]) -> PluginEntry:
        with self._lock.guard():
            entries = self._lock.read()
            check(entries, entry.key)
            if entry.key in entries:
                entry = replace(entry, enabled=entries[entry.key].enabled)
            self._lock.write((entries | {entry.key: entry}).values())
        return entry

    def _tool(self) -> Installer:
        if self._installer is not None:
            return self._installer
        uv = find_uv()
        return UvInstaller(uv, self._sources) if uv else PipInstaller(self._sources)


def _check_absent(entries: Entries, name: str) -> None:
    if name in entries:
        old = entries[name]
        raise InstallError(
            Reason.EXISTS, f"plugin {old.name!r} is installed already, in version {old.version}; update or remove it"
        )


def _check_present(entries: Entries, name: str) -> None:
    if name not in entries:
        raise InstallError(Reason.UNKNOWN, f"plugin {name!r} is not installed, or was removed meanwhile; add it")


def _newest(spec: str) -> str:
    """What an update asks for: of a name any version, of a file or folder the same again."""
    parsed = parse_spec(spec)
    if parsed.kind != "name":
        return spec
    requirement = Requirement(parsed.requirement)
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}"
