"""An installed plugin as plugins.lock has it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from enfilade.candidate import Offer, plugin_key

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Package:
    """A distribution in an environment: from which file, of which content.

    Attributes:
        name: Its canonical name.
        version: Its version.
        files: Names of the wheels (or the source archive) that it may have been installed from.
        hashes: Their SHA-256; the installer took no other file.
    """

    name: str
    version: str
    files: tuple[str, ...]
    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """One installed plugin.

    Attributes:
        name: The distribution's name as its metadata writes it.
        version: Its version.
        spec: What the operator asked for; `update` starts from it.
        enabled: Whether hosts use it.
        folder: Its environment's folder.
        interpreter: The Python that the environment was made with.
        python_version: That Python's version.
        allow_build: Whether build code of packages was allowed to run.
        installer: The tool that installed it, with its version.
        installed: When, in UTC, as ISO 8601.
        tree: The hash of everything in the environment.
        packages: Every distribution in it.
        offers: Its strategies, from its entry points.
        descriptions: What it said of them when it was opened, as JSON.
    """

    name: str
    version: str
    spec: str
    enabled: bool
    folder: Path
    interpreter: str
    python_version: str
    allow_build: bool
    installer: str
    installed: str
    tree: str
    packages: tuple[Package, ...]
    offers: tuple[Offer, ...]
    descriptions: tuple[Mapping[str, Any], ...]

    @property
    def key(self) -> str:
        """The canonical name, under which it is found however its name is written."""
        return plugin_key(self.name)

    @property
    def venv(self) -> Path:
        """Its virtual environment."""
        return self.folder / "venv"

    @property
    def python(self) -> Path:
        """The interpreter that has it installed."""
        return self.venv / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Its packages."""
        return site_packages(self.venv, self.python_version)

    def to_json(self) -> dict[str, Any]:
        """The entry as plugins.lock has it; the folder by its name alone."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {
            "folder": self.folder.name,
            "packages": [
                {"name": p.name, "version": p.version, "files": list(p.files), "hashes": list(p.hashes)}
                for p in self.packages
            ],
            "offers": {offer.name: offer.target for offer in self.offers},
            "descriptions": [dict(description) for description in self.descriptions],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any], environments: Path) -> Self:
        """Reads what `to_json` wrote; what a later version added is left out.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: It is not such an entry.
        """
        if Path(values["folder"]).name != values["folder"] or values["folder"] in ("", ".", ".."):
            raise ValueError(f"folder: expected a name without a path, got {values['folder']!r}")
        texts = ("name", "version", "spec", "interpreter", "python_version", "installer", "installed", "tree")
        return cls(
            **{name: _of(str, values, name) for name in texts},
            enabled=_of(bool, values, "enabled"),
            allow_build=_of(bool, values, "allow_build"),
            folder=environments / values["folder"],
            packages=tuple(
                Package(_of(str, p, "name"), _of(str, p, "version"), tuple(p["files"]), tuple(p["hashes"]))
                for p in values["packages"]
            ),
            offers=tuple(Offer(name, target) for name, target in values["offers"].items()),
            descriptions=tuple(dict(description) for description in values["descriptions"]),
        )


def site_packages(venv: Path, python_version: str) -> Path:
    """Where a virtual environment of that Python has its packages."""
    return venv / "lib" / f"python{'.'.join(python_version.split('.')[:2])}" / "site-packages"


def _of(kind: type[_T], values: Mapping[str, Any], name: str) -> _T:
    value = values[name]
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected a {kind.__name__}, got {value!r}")
    return value
