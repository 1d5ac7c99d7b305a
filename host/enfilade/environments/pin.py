"""A resolution: which distributions an environment gets, from which files, of which content."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from packaging.utils import canonicalize_name

from enfilade.environments.entry import Package
from enfilade.environments.errors import InstallError, Reason


@dataclass(frozen=True, slots=True)
class Pin:
    """One distribution, pinned.

    Attributes:
        name: Its canonical name.
        version: Its version; empty when it is a direct file that does not say.
        addresses: Of the files that fit the environment.
        hashes: Their SHA-256.
        direct: Whether it was asked for by the one address, not by its name.
    """

    name: str
    version: str
    addresses: tuple[str, ...]
    hashes: tuple[str, ...]
    direct: bool = False

    @property
    def requirement(self) -> str:
        """A line of a requirements file that fits these files alone."""
        what = f"{self.name} @ {self.addresses[0]}" if self.direct else f"{self.name}=={self.version}"
        return " ".join([what, *(f"--hash=sha256:{digest}" for digest in self.hashes)])

    @property
    def local_wheels(self) -> dict[Path, str]:
        """Those of its files that are wheels on this machine, with the hashes that were found."""
        found = {}
        for address, digest in zip(self.addresses, self.hashes, strict=True):
            split = urlsplit(address)
            if split.scheme == "file" and split.path.endswith(".whl"):
                found[Path(url2pathname(split.path))] = digest
        return found

    def narrowed(self, folder: Path) -> Self:
        """With only the file that is in a folder, asked for by its address, when one of its files is there."""
        for address, digest in zip(self.addresses, self.hashes, strict=True):
            if address.startswith(f"{folder.as_uri()}/"):
                return replace(self, addresses=(address,), hashes=(digest,), direct=True)
        return self

    @property
    def package(self) -> Package:
        """What plugins.lock keeps of it: the files' names without their addresses."""
        names = tuple(unquote(urlsplit(address).path).rpartition("/")[2] for address in self.addresses)
        return Package(self.name, self.version, names, self.hashes)


def requirements_text(pins: Iterable[Pin]) -> str:
    """A requirements file with a hash for everything."""
    return "".join(f"{pin.requirement}\n" for pin in pins)


def pins_of_pylock(text: str, folder: Path) -> tuple[Pin, ...]:
    """Reads a `pylock.toml` (PEP 751) that was resolved for one environment.

    Args:
        text: The file's content.
        folder: Where it is; its relative paths start there.

    Raises:
        InstallError: It holds something for which no hash can be known, or is no such file.
    """
    try:
        packages = tomllib.loads(text).get("packages", [])
        return tuple(_pin(package, folder) for package in packages)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InstallError(
            Reason.INSTALLER_FAILED, f"the installer's resolution cannot be read: {type(error).__name__}: {error}"
        ) from None


def _pin(package: Mapping[str, Any], folder: Path) -> Pin:
    name, version = canonicalize_name(package["name"]), str(package.get("version", ""))
    direct = package.get("archive")
    files = [direct] if direct else [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
    hashes = tuple(file.get("hashes", {}).get("sha256", "") for file in files)
    if not files or not all(hashes):
        raise no_hash(name)
    return Pin(name, version, tuple(_address(file, folder) for file in files), hashes, direct is not None)


def _address(file: Mapping[str, Any], folder: Path) -> str:
    return str(file["url"]) if "url" in file else (folder / str(file["path"])).as_uri()


def pins_of_report(report: Mapping[str, Any]) -> tuple[Pin, ...]:
    """Reads pip's installation report (version 1).

    Raises:
        InstallError: It holds something for which no hash can be known, or is no such report.
    """
    try:
        return tuple(sorted((_reported(item) for item in report["install"]), key=lambda pin: pin.name))
    except (KeyError, TypeError, AttributeError) as error:
        raise InstallError(
            Reason.INSTALLER_FAILED, f"pip's report cannot be read: {type(error).__name__}: {error}"
        ) from None


def _reported(item: Mapping[str, Any]) -> Pin:
    name, version = canonicalize_name(item["metadata"]["name"]), str(item["metadata"]["version"])
    info = item["download_info"]
    digest = info.get("archive_info", {}).get("hashes", {}).get("sha256", "")
    if not digest:
        raise no_hash(name)
    return Pin(name, version, (str(info["url"]),), (digest,), bool(item.get("is_direct")))


def no_hash(name: str) -> InstallError:
    """The error for a distribution from a repository or a folder."""
    return InstallError(
        Reason.UNSAFE_ARCHIVE,
        f"{name} would come from a repository or a folder, for which no hash can be known; only wheels and source "
        "archives are installed",
    )
