"""The installed plugins: added, updated, removed, checked. What fails changes nothing that worked."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from enfilade.environments.bytecode import Bytecode
from enfilade.environments.command import Place
from enfilade.environments.construction import Construction
from enfilade.environments.drift import check_drift
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import InstallError, Reason, SpecError
from enfilade.environments.folders import Folders, default_root
from enfilade.environments.hold import take_hold
from enfilade.environments.installer import Installer
from enfilade.environments.lease import Lease
from enfilade.environments.lockfile import LockFile
from enfilade.environments.order import Opener, Order, Progress
from enfilade.environments.pip_installer import PipInstaller
from enfilade.environments.sdk import Sdk, host_sdk
from enfilade.environments.sources import Sources
from enfilade.environments.spec import parse_spec
from enfilade.environments.staging import Staging, disk_faults, to_the_end
from enfilade.environments.uv_installer import UvInstaller, find_uv
from enfilade.errors import near_matches

Entries = Mapping[str, PluginEntry]


class PluginStore:
    """The plugins below one root folder, which several processes may use at once.

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
        self._folders = Folders((root or default_root()).absolute())
        self._lock = LockFile(self._folders)
        self._sources = sources or Sources()
        self._installer = installer
        self._sdk = sdk

    @property
    def root(self) -> Path:
        """The root folder."""
        return self._folders.root

    def entries(self) -> list[PluginEntry]:
        """What is installed, by name; no process is started and nothing written.

        Raises:
            InstallError: plugins.lock cannot be read.
        """
        return sorted(self._lock.read().values(), key=lambda entry: entry.key)

    def entry(self, name: str) -> PluginEntry:
        """One installed plugin.

        Raises:
            InstallError: There is none of that name; the text lists near matches.
        """
        return _found(self._lock.read(), name)

    def revision(self) -> tuple[int, ...]:
        """A value that changes whenever what is installed does; costs one look at a file."""
        try:
            status = self._folders.lock_file.stat()
        except FileNotFoundError:
            return ()
        return (status.st_mtime_ns, status.st_ino, status.st_size)

    def verify(self, name: str) -> PluginEntry:
        """Checks that a plugin's environment is what was installed. To be called before each start.

        Raises:
            DriftError: It is not; the text says what changed.
            InstallError: There is none of that name, or it cannot be read.
        """
        entry = self.entry(name)
        check_drift(entry)
        return entry

    def lease(self, name: str) -> Lease:
        """Takes the right to run a plugin from the environment that it has now.

        Raises:
            InstallError: There is none of that name, or its environment is gone.
        """
        with self._lock.guard():
            entry = _found(self._lock.read(), name)
            try:
                hold = take_hold(entry.folder, exclusive=False)
            except OSError as error:
                raise InstallError(
                    Reason.DRIFT,
                    f"the environment of {entry.name!r}, {entry.folder}, cannot be used: {error.strerror}; "
                    f"`update {entry.key}` installs it anew",
                ) from None
        if hold is None:
            raise InstallError(Reason.STORE, f"the environment of {entry.name!r} is being removed; try again")
        return Lease(entry, hold)

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
        kept = old.interpreter if old.python.exists() else None
        order = Order(parsed, opener, python or kept, allow_build, progress)
        return await self._install(order, _check_present, old.key)

    def remove(self, name: str) -> PluginEntry:
        """Removes a plugin. Who runs it finishes on its environment, which is removed after.

        Raises:
            InstallError: There is none of that name.
        """
        with self._lock.guard():
            entries = self._lock.read()
            entry = _found(entries, name)
            del entries[entry.key]
            self._lock.write(entries.values())
            self._swept(entries)
        return entry

    def enable(self, name: str) -> PluginEntry:
        """Lets hosts use a plugin again.

        Raises:
            InstallError: There is none of that name.
        """
        return self._switched(name, enabled=True)

    def disable(self, name: str) -> PluginEntry:
        """Keeps a plugin installed and lets no host use it.

        Raises:
            InstallError: There is none of that name.
        """
        return self._switched(name, enabled=False)

    def sweep(self) -> None:
        """Removes what killed installations left, and replaced environments that nobody runs any more.

        Raises:
            InstallError: plugins.lock cannot be read; then nothing is removed.
        """
        if self._folders.root.is_dir():
            with self._lock.guard():
                self._swept(self._lock.read())

    def _swept(self, entries: Entries) -> None:
        self._folders.sweep(frozenset(entry.folder.name for entry in entries.values()))

    def _switched(self, name: str, *, enabled: bool) -> PluginEntry:
        with self._lock.guard():
            entries = self._lock.read()
            entry = replace(_found(entries, name), enabled=enabled)
            self._lock.write((entries | {entry.key: entry}).values())
        return entry

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
                return await to_the_end(lambda: self._record(entry, staging, check))
        finally:
            if staging.hold is not None:
                staging.hold.release()
            await to_the_end(self.sweep)

    def _begin(self, staging: Staging, order: Order, check: Callable[[Entries, str], None], name: str) -> None:
        with self._lock.guard():
            entries = self._lock.read()
            self._swept(entries)
            if name:
                check(entries, name)
            staging.folder, staging.hold = self._folders.new_environment(order.spec.label)
            staging.sdk = self._sdk or host_sdk(self._folders.sdk)

    def _record(self, entry: PluginEntry, staging: Staging, check: Callable[[Entries, str], None]) -> PluginEntry:
        with self._lock.guard():
            entries = self._lock.read()
            check(entries, entry.key)
            if entry.key in entries:
                entry = replace(entry, enabled=entries[entry.key].enabled)
            self._lock.write((entries | {entry.key: entry}).values())
            if staging.hold is not None:
                staging.hold.release()  # from here on it is installed, and whoever runs it may hold it
        return entry

    def _tool(self) -> Installer:
        if self._installer is not None:
            return self._installer
        uv = find_uv()
        return UvInstaller(uv, self._sources) if uv else PipInstaller(self._sources)


def _found(entries: Entries, name: str) -> PluginEntry:
    entry = entries.get(canonicalize_name(name))
    if entry is None:
        raise InstallError(Reason.UNKNOWN, f"there is no installed plugin {name!r}; {near_matches(name, entries)}")
    return entry


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
