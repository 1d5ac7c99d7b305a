"""The SDK for plugins' environments: the one that this host itself runs, put into wheels.

Wheels are made of the files and metadata that are installed beside the host, however they came there (from a registry,
a folder, editable). So a plugin speaks the host's own wire, nothing is built, and no registry need have that version. A
plugin that asks for an older SDK gets it from where packages come from; a newer one than the host's is refused.
"""

import base64
import hashlib
import os
import shutil
import stat
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from importlib_metadata import PackageNotFoundError, distribution

from enfilade.environments.errors import InstallError, Reason
from enfilade.metadata import version_of

_PARTS = {"enfilade-sdk": "enfilade_sdk", "enfilade-wire": "enfilade_wire"}
_WHEEL = b"Wheel-Version: 1.0\nGenerator: enfilade\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_KEPT = 3
"""Folders of wheels that are kept; several hosts of different versions may share a root."""


@dataclass(frozen=True, slots=True)
class Sdk:
    """What every environment gets beside the plugin: a requirement, and a folder of wheels that fit it."""

    requirement: str
    folder: Path


def host_sdk(cache: Path) -> Sdk:
    """The host's own SDK as wheels below a folder; made when they are not there yet. Call it under the guard.

    Args:
        cache: Where they are kept, in a folder named for their content.

    Raises:
        InstallError: It cannot be found.
        OSError: It cannot be written.
    """
    try:
        wheels = {_file_name(name): _contents(name, package) for name, package in _PARTS.items()}
        requirement = f"enfilade-sdk<={version_of(distribution('enfilade-sdk'))}"
        digest = hashlib.sha256(repr(sorted(wheels.items())).encode()).hexdigest()[:16]
        return Sdk(requirement, _written(cache, digest, wheels))
    except PackageNotFoundError as error:
        raise InstallError(
            Reason.STORE, f"the host's own {error} has no metadata, so no plugin can be given it; install it again"
        ) from None


def _file_name(name: str) -> str:
    return f"{name.replace('-', '_')}-{version_of(distribution(name))}-py3-none-any.whl"


def _contents(name: str, package: str) -> dict[str, bytes]:
    found = distribution(name)
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise PackageNotFoundError(name)
    folder = Path(spec.origin).parent
    files = {
        f"{package}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    info = f"{package}-{version_of(found)}.dist-info"
    files[f"{info}/METADATA"] = (found.read_text("METADATA") or "").encode()
    files[f"{info}/WHEEL"] = _WHEEL
    return files | {f"{info}/RECORD": _record(files, info)}


def _record(files: dict[str, bytes], info: str) -> bytes:
    rows = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join([*rows, f"{info}/RECORD,,\n"]).encode()


def _written(cache: Path, digest: str, wheels: dict[str, dict[str, bytes]]) -> Path:
    folder, beside = cache / digest, cache / ".new"
    if folder.is_dir():
        return folder
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        for name, files in wheels.items():
            with zipfile.ZipFile(beside / name, "w") as archive:
                for path, content in files.items():
                    archive.writestr(_member(path), content)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    _prune(cache, folder)
    return folder


def _member(path: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path)  # its time is fixed: the same files give the same wheel
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    return info


def _prune(cache: Path, fresh: Path) -> None:
    folders = [path for path in cache.iterdir() if path.is_dir() and path != fresh]
    for old in sorted(folders, key=os.path.getmtime, reverse=True)[_KEPT - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
