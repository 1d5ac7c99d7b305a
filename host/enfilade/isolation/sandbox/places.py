"""What of the file system a guest may read: its interpreter, its packages, the system's libraries and certificates."""

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

SYSTEM = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec"),
    *("/usr/share", "/usr/include", "/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/share"),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/sys/devices/system/cpu"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"),
    *("/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/locale.conf", "/etc/mime.types", "/etc/os-release"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/protocols", "/etc/services"),
)
"""Programs, libraries, and what the C library reads; nothing of it is secret. Keys and passwords lie elsewhere."""

CERTIFICATES = (
    *("/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/ca-certificates"),
    *("/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust"),
    *("/etc/crypto-policies",),
)
"""Where distributions keep the certificates that are trusted; `private` folders are not among them."""

NAMES = ("/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf")
"""What a name is looked up with."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that a guest may read and write."""

_PARTS = ("bin", "lib", "lib64", "include", "pyvenv.cfg")
"""The parts of an interpreter's folder that are its own; beside them may lie anything."""

_WIDE = ("/", "/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/etc", "/var", "/opt", "/srv", "/usr", "/usr/local")  # noqa: S108 - they are left out
"""Folders that hold far more than one program."""

_OWN_PLACES = ("HOME", "TMPDIR", "PWD", "OLDPWD")
"""Variables whose paths are where a process works, not what it reads."""


def existing(paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that are there, each once, and where each leads when it is a link."""
    found: dict[str, None] = {}
    for path in paths:
        if os.path.isabs(path) and "\n" not in path and os.path.exists(path):  # noqa: PTH110, PTH117 - str stays str
            found[path] = None
            found[os.path.realpath(path)] = None
    return tuple(found)


def interpreter_places(python: str) -> Iterator[str]:
    """What an interpreter reads to come to life: its own parts, and those of the one its environment was made with."""
    for prefix in _prefixes(python):
        yield from (f"{prefix}/{part}" for part in _PARTS)


def package_places(python: str) -> Iterator[str]:
    """Where the packages of an interpreter's environment lie that were installed as editable: `.pth` files say it."""
    for prefix in _prefixes(python):
        for folder in Path(prefix, "lib").glob("python3*/*-packages"):
            names = os.listdir(folder)  # noqa: PTH208 - names are enough, and they are hundreds
            lines = [line for name in names if name.endswith(".pth") for line in _pth_folders(folder / name)]
            yield from lines
            for project in _editable_projects(folder, names):
                if not any(line == project or line.startswith(project + os.sep) for line in lines):
                    yield project


def _prefixes(python: str) -> Iterable[str]:
    paths = [os.path.dirname(os.path.dirname(path)) for path in (python, os.path.realpath(python))]  # noqa: PTH120
    own = [sys.prefix, sys.base_prefix] if python == sys.executable else []
    return dict.fromkeys(path.rstrip("/") for path in (*paths, *own))


def _pth_folders(file: Path) -> Iterator[str]:
    for line in _text(file).splitlines():
        if line and not line.startswith(("#", "import ", "import\t")):
            path = f"{file.parent / line.strip()}"
            if os.path.isdir(path):  # noqa: PTH112 - it is no error that this user may not look there
                yield path


def _editable_projects(packages: Path, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        file = f"{packages}/{name}/direct_url.json"
        if name.endswith(".dist-info") and os.path.exists(file):  # noqa: PTH110 - they are hundreds
            try:
                told = json.loads(_text(Path(file)))
                if told.get("dir_info", {}).get("editable") is True:
                    yield unquote(urlparse(told["url"]).path)
            except (ValueError, KeyError, AttributeError):
                continue


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError:
        return ""


def command_places(command: Sequence[str], path: str) -> Iterator[str]:
    """What a command names: its program, its files with the folder each lies in, its folders.

    Args:
        command: The program and its arguments.
        path: The `PATH` that it is looked up on.
    """
    program = shutil.which(command[0], path=path) or command[0]
    yield program
    if os.path.basename(os.path.realpath(program)).startswith("python"):  # noqa: PTH119
        yield from interpreter_places(program)
        yield from package_places(program)
    for word in (program, *command[1:]):
        if os.path.isabs(word) and _is_narrow(word):  # noqa: PTH117
            yield word
            folder = os.path.dirname(os.path.realpath(word))  # noqa: PTH120
            if os.path.isfile(word) and _is_narrow(folder):  # noqa: PTH113
                yield folder


def variable_places(environment: Mapping[str, str]) -> Iterator[str]:
    """The paths that the variables name which the operator gave a plugin."""
    for name, value in environment.items():
        if name not in _OWN_PLACES:
            yield from (word for word in value.split(os.pathsep) if os.path.isabs(word) and _is_narrow(word))  # noqa: PTH117


def _is_narrow(path: str) -> bool:
    real = os.path.realpath(path)
    return real not in _WIDE and real != os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
