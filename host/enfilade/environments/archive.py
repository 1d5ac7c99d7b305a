"""Checking a wheel before anything of it is written: names, links, sizes, contents, what it says it is."""

import base64
import csv
import hashlib
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import IO

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.member import UnsafeNameError, check_no_overlap, inner_path

_MIB = 1024 * 1024
_UNSIGNED = ("RECORD", "RECORD.jws", "RECORD.p7s")


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What a wheel may unpack to.

    Attributes:
        members: Files in it.
        total_bytes: Bytes of all of them.
        ratio: How many times its own size it may unpack to, beyond the first 64 MiB. Deflate reaches 1032; real wheels
            stay below 50.
    """

    members: int = 100_000
    total_bytes: int = 4096 * _MIB
    ratio: int = 200


@dataclass(frozen=True, slots=True)
class WheelFacts:
    """What a wheel is, after it was checked: its canonical name, version, condition on Python, and SHA-256."""

    name: str
    version: str
    requires_python: str
    sha256: str


def check_wheel(path: Path, limits: ArchiveLimits | None = None) -> WheelFacts:
    """Reads a wheel through without writing anything.

    Raises:
        InstallError: It cannot be read, is damaged, is not what its name says, or would write where it must not.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            size = path.stat().st_size
            inner = _members(archive, size, limits or ArchiveLimits())
            folder = _dist_info(path, inner)
            _check_contents(archive, inner, f"{folder}/RECORD")
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return _facts(path, archive, inner, folder, digest)
    except UnsafeNameError as error:
        raise _refused(path, str(error)) from None
    except OSError as error:
        raise InstallError(Reason.UNSAFE_ARCHIVE, f"cannot read the wheel {path}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, KeyError, UnicodeDecodeError) as error:
        raise _refused(path, f"it is damaged: {error}") from None


def _members(archive: zipfile.ZipFile, size: int, limits: ArchiveLimits) -> dict[str, zipfile.ZipInfo]:
    """The archive's files by their path in plain form; folders are left out."""
    infos = archive.infolist()
    if len(infos) > limits.members:
        raise UnsafeNameError(f"it has {len(infos)} members and the limit is {limits.members}")
    total = sum(info.file_size for info in infos)
    if total > limits.total_bytes:
        raise UnsafeNameError(f"it unpacks to {total // _MIB} MiB and the limit is {limits.total_bytes // _MIB} MiB")
    if total > max(64 * _MIB, limits.ratio * size):
        raise UnsafeNameError(f"it unpacks to {total // max(size, 1)} times its own size; the limit is {limits.ratio}")
    named = [(_inner(info), info) for info in infos]
    files = [(path, info) for path, info in named if not info.is_dir()]
    check_no_overlap(path for path, _ in files)
    return dict(files)


def _inner(info: zipfile.ZipInfo) -> str:
    # orig_filename is the name as it stands in the archive; filename ends at a NUL and has other separators replaced
    try:
        path = inner_path(info.orig_filename)
    except UnsafeNameError as error:
        raise UnsafeNameError(f"the member {info.orig_filename!r} is refused: {error}") from None
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a symbolic link" if kind == stat.S_IFLNK else "neither a file nor a folder"
        raise UnsafeNameError(f"the member {info.orig_filename!r} is refused: it is {what}")
    if info.flag_bits & 0x1:
        raise UnsafeNameError(f"the member {info.orig_filename!r} is refused: it is encrypted")
    return path


def _dist_info(path: Path, inner: dict[str, zipfile.ZipInfo]) -> str:
    folders = {member.split("/")[0] for member in inner if member.split("/")[0].endswith(".dist-info")}
    if len(folders) != 1:
        found = ", ".join(sorted(folders)) or "none"
        raise UnsafeNameError(f"expected one .dist-info folder in it, found {found}")
    [folder] = folders
    try:
        name, version, _, _ = parse_wheel_filename(path.name)
        told_name, _, told_version = folder.removesuffix(".dist-info").partition("-")
        same = canonicalize_name(told_name) == name and Version(told_version) == version
    except (InvalidWheelFilename, InvalidVersion) as error:
        raise UnsafeNameError(f"its name cannot be read: {error}") from None
    if not same:
        raise UnsafeNameError(f"its file is named for {name} {version} and it holds {folder}")
    return folder


def _check_contents(archive: zipfile.ZipFile, inner: dict[str, zipfile.ZipInfo], record: str) -> None:
    """Unpacks everything into nowhere: sizes, checksums, and the hashes that RECORD has must agree."""
    if record not in inner:
        raise UnsafeNameError(f"it has no {record}")
    hashes = dict(_recorded(archive.read(inner[record]).decode("utf-8")))
    for path, info in inner.items():
        with archive.open(info) as member:
            digest = _digest(member)
        told = hashes.get(path, "")
        if told.startswith("sha256=") and path.rpartition("/")[2] not in _UNSIGNED:
            found = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if told.removeprefix("sha256=").rstrip("=") != found:
                raise UnsafeNameError(f"{path} is not what RECORD says: the wheel was changed after it was built")


def _digest(member: IO[bytes]) -> bytes:
    hashed = hashlib.sha256()
    while data := member.read(_MIB):
        hashed.update(data)
    return hashed.digest()


def _recorded(text: str) -> Iterator[tuple[str, str]]:
    for row in csv.reader(text.splitlines()):
        path, told, *_ = [*row, "", ""]
        if path:
            yield inner_path(path), told


def _facts(
    path: Path, archive: zipfile.ZipFile, inner: dict[str, zipfile.ZipInfo], folder: str, digest: str
) -> WheelFacts:
    if f"{folder}/METADATA" not in inner:
        raise UnsafeNameError(f"it has no {folder}/METADATA")
    metadata = BytesHeaderParser().parsebytes(archive.read(inner[f"{folder}/METADATA"]))
    name, version = metadata.get("Name", ""), metadata.get("Version", "")
    told = folder.removesuffix(".dist-info").partition("-")
    if canonicalize_name(name) != canonicalize_name(told[0]) or _version(version) != _version(told[2]):
        raise UnsafeNameError(f"its file is named for {path.name} and its metadata says {name or '?'} {version or '?'}")
    requires = metadata.get("Requires-Python", "")
    try:
        SpecifierSet(requires)
    except InvalidSpecifier:
        raise UnsafeNameError(f"its Requires-Python cannot be read: {requires!r}") from None
    return WheelFacts(canonicalize_name(name), version, requires, digest)


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _refused(path: Path, why: str) -> InstallError:
    return InstallError(
        Reason.UNSAFE_ARCHIVE,
        f"the wheel {path.name} is refused and nothing of it was written: {why}; get it anew or tell its author",
    )
