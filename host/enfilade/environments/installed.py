"""The plugins that are installed: listed, checked, lent to a host, switched, removed. Nothing here installs."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from enfilade.candidate import plugin_key
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.folders import Folders, default_root
from enfilade.environments.hold import Hold, take_hold
from enfilade.environments.lease import Lease
from enfilade.environments.lockfile import LockFile
from enfilade.errors import near_matches
from enfilade.settings.current_folder import absolute

Entries = Mapping[str, PluginEntry]

_TRIES = 10
"""How often a plugin may be updated in the very moment in which it is leased."""


class InstalledPlugins:
    """What is installed below one root folder, which several processes may use at once.

    Args:
        root: The folder; None is `ENFILADE_PLUGINS_DIR`, else the user's data folder.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._folders = Folders(absolute(root or default_root()))
        self._lock = LockFile(self._folders)

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
        return found(self._lock.read(), name)

    def revision(self) -> tuple[int, ...]:
        """A value that changes whenever what is installed does; costs one look at a file."""
        try:
            status = self._folders.lock_file.stat()
        except OSError:  # where it is there and cannot be reached, whoever reads it says why
            return ()
        return (status.st_mtime_ns, status.st_ino, status.st_size)

    def lease(self, name: str) -> Lease:
        """Takes the right to run a plugin from the environment that it has now. Needs no right to write.

        Raises:
            InstallError: There is none of that name, or its environment is gone.
        """
        entry, fault = self.entry(name), ""
        for _ in range(_TRIES):
            hold, fault = _shared_hold(entry)
            tried, entry = entry, self.entry(name)
            if entry.folder != tried.folder:  # updated in this very moment
                if hold is not None:
                    hold.release()
            elif hold is not None:
                return Lease(entry, hold)  # it was recorded while it was held, so nobody has begun to remove it
            else:
                break
        raise InstallError(
            Reason.DRIFT,
            f"the environment of {entry.name!r}, {entry.folder}, cannot be used: {fault}; "
            f"`enfilade plugins update {entry.key}` installs it anew",
        )

    def remove(self, name: str) -> PluginEntry:
        """Removes a plugin. Who runs it finishes on its environment, which is removed after.

        Raises:
            InstallError: There is none of that name.
        """
        with self._lock.guard():
            entries = self._lock.read()
            entry = found(entries, name)
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

        Who may not write the root folder removes nothing.

        Raises:
            InstallError: plugins.lock cannot be read; then nothing is removed.
        """
        if os.access(self._folders.root, os.W_OK) and self._folders.has_rubbish(_folders_of(self._lock.read())):
            with self._lock.guard():
                self._swept(self._lock.read())

    def _swept(self, entries: Entries) -> None:
        self._folders.sweep(_folders_of(entries))

    def _switched(self, name: str, *, enabled: bool) -> PluginEntry:
        with self._lock.guard():
            entries = self._lock.read()
            entry = replace(found(entries, name), enabled=enabled)
            self._lock.write((entries | {entry.key: entry}).values())
        return entry


def _folders_of(entries: Entries) -> frozenset[str]:
    return frozenset(entry.folder.name for entry in entries.values())


def _shared_hold(entry: PluginEntry) -> tuple[Hold | None, str]:
    """A shared hold, or why there is none."""
    try:
        return take_hold(entry.folder, exclusive=False), "it is being removed"
    except OSError as error:
        return None, error.strerror or str(error)


def found(entries: Entries, name: str) -> PluginEntry:
    """One of the entries, however its name is written.

    Raises:
        InstallError: There is none of that name; the text lists near matches.
    """
    entry = entries.get(plugin_key(name))
    if entry is None:
        raise InstallError(Reason.UNKNOWN, f"there is no installed plugin {name!r}; {near_matches(name, entries)}")
    return entry
