"""Small real wheels, made here: nothing is built, nothing is fetched."""

import base64
import hashlib
import stat
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from importlib_metadata import PackagePath, distribution, requires
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

STRATEGY = """
class Strategy:
    def get_parameters(self):
        return [{{"name": "query", "type": "string", "label": "Query"}}]

    def invoke(self, *, params, user_id="nobody"):
        yield {answer}
"""
"""A strategy that imports nothing of ours."""


def link(target: str) -> zipfile.ZipInfo:
    """A member that is a symbolic link; give it as a member's name, with the target as its content."""
    info = zipfile.ZipInfo(target)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def write_wheel(
    folder: Path,
    name: str,
    version: str = "1.0.0",
    files: Mapping[str, str] | None = None,
    *,
    requires: Iterable[str] = (),
    requires_python: str = "",
    entry_points: str = "",
    odd: Iterable[tuple[str | zipfile.ZipInfo, str]] = (),
    record: Mapping[str, str] | None = None,
) -> Path:
    """A wheel with METADATA, WHEEL, entry points and RECORD.

    Args:
        folder: Where to write it.
        name: The distribution's name.
        version: Its version.
        files: Its files by path.
        requires: Its requirements.
        requires_python: Its condition on Python.
        entry_points: The content of `entry_points.txt`.
        odd: Further members that a proper wheel would not have.
        record: Hashes that RECORD has instead of the right ones.
    """
    safe = name.replace("-", "_")
    info = f"{safe}-{version}.dist-info"
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
    lines += [f"Requires-Dist: {line}" for line in requires]
    lines += [f"Requires-Python: {requires_python}"] if requires_python else []
    members = dict(files or {})
    members[f"{info}/METADATA"] = "\n".join(lines) + "\n"
    members[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if entry_points:
        members[f"{info}/entry_points.txt"] = entry_points
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{safe}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        rows = [f"{p},{(record or {}).get(p) or _hash(c.encode())},{len(c)}" for p, c in members.items()]
        for member, content in [*members.items(), *odd]:
            archive.writestr(member, content)
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]))
    return path


def write_plugin(
    folder: Path,
    name: str,
    version: str = "1.0.0",
    *,
    answer: str = "'hello'",
    files: Mapping[str, str] | None = None,
    requires: Iterable[str] = (),
    requires_python: str = "",
    offers: Mapping[str, str] | None = None,
    odd: Iterable[tuple[str | zipfile.ZipInfo, str]] = (),
) -> Path:
    """A plugin's wheel; it offers one strategy of its own name that answers with an expression's value."""
    module = name.replace("-", "_")
    chosen = {name: f"{module}.strategy:Strategy"} if offers is None else offers
    lines = "".join(f"{strategy} = {target}\n" for strategy, target in chosen.items())
    return write_wheel(
        folder,
        name,
        version,
        {f"{module}/__init__.py": "", f"{module}/strategy.py": STRATEGY.format(answer=answer), **(files or {})},
        requires=requires,
        requires_python=requires_python,
        entry_points=f"[enfilade.strategies]\n{lines}" if lines else "",
        odd=odd,
    )


def write_installed(folder: Path, name: str) -> list[Path]:
    """Wheels of a distribution that is installed beside the tests, and of what it needs, made of its own files."""
    written: dict[str, Path] = {}
    waiting = [name]
    while waiting:
        key = canonicalize_name(waiting.pop())
        if key not in written:
            written[key] = _repack(folder, key)
            waiting += [r.name for r in map(Requirement, requires(key) or []) if not r.marker or r.marker.evaluate()]
    return list(written.values())


def _repack(folder: Path, name: str) -> Path:
    found = distribution(name)
    files = [PackagePath(file) for file in found.files or []]
    info = next(str(file.parent) for file in files if file.name == "METADATA")
    tag = next(line for line in (found.read_text("WHEEL") or "").splitlines() if line.startswith("Tag: "))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{info.removesuffix('.dist-info')}-{tag.removeprefix('Tag: ')}.whl"
    rows = []
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            inside = ".." not in file.parts and "__pycache__" not in file.parts and file.name != "RECORD"
            if inside and file.name not in ("INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"):
                content = Path(str(found.locate_file(file))).read_bytes()
                archive.writestr(zipfile.ZipInfo(str(file)), content)
                rows.append(f"{file},{_hash(content)},{len(content)}")
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]))
    return path


def _hash(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
