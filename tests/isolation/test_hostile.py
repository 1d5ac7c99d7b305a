"""What each profile stops, as `docs/isolation.md` says it: a hostile plugin tries it all, as root and another."""

import functools
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.faulty_guest import ROOT
from tests.support.hostile_host import SECRET
from tests.support.hostile_plugin.deeds import DEEDS
from tests.support.hostile_plugin.lies import LIES, OVER_LINK
from tests.support.sandbox_marks import MARKS

NOBODY = 65534
MEMBERS = ("", "host", "plugin_sdk", "proto")
PROFILES = ("none", "standard", "strict")
CLOSED_BY_SYSTEMS = {
    *("trace", "host-memory", "host-memory-by-call", "host-environment", "namespace", "keyring", "mount", "device"),
    *("kernel-log", "io-uring", "leave-group", "vsock", "other-user", "shared-memory-file"),
}
"""What some systems refuse by themselves, under no profile at all."""

CAPTURED: dict[str, Any] = {"capture_output": True, "timeout": 240}

AS_NOBODY = """
set -e
mount --bind "$PREFIX" "$BASE/python"
mount --bind "$SITE" "$BASE/python/$PACKAGES"
mount --bind "$REPOSITORY" "$BASE/repository"
if [ -n "$CLOSED" ]; then
    mount -t tmpfs -o mode=755 tmpfs "$CLOSED"
    mkdir -p "$REPOSITORY"
    mount --bind "$BASE/repository" "$REPOSITORY"
fi
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
"""
"""The interpreter and the code may lie where nobody else may look; in a mount namespace they lie elsewhere too.

Editable packages name the code where it was, so there it is shown as well.
"""


def table() -> dict[str, dict[str, str]]:
    """What each deed comes to under each profile, as the page says it."""
    page = (ROOT / "docs" / "isolation.md").read_text(encoding="utf-8")
    part = page.partition("<!-- table: deeds -->")[2].partition("<!-- end of table -->")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \|[^|]*\|([^|]*)\|([^|]*)\|([^|]*)\|$", part, re.MULTILINE)
    return {deed: dict(zip(PROFILES, (cell.strip() for cell in cells), strict=True)) for deed, *cells in rows}


@functools.cache
def outcome(user: str, profile: str) -> dict[str, Any]:
    """What a host of that user tells of its hostile plugin."""
    words = ["-m", "tests.support.hostile_host", profile]
    environment = {"PATH": os.environ["PATH"], SECRET: "open sesame", "PYTHONDONTWRITEBYTECODE": "1"}
    if user == "nobody":
        return as_nobody(words, environment)
    return told(subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, check=False, **CAPTURED))


def as_nobody(words: list[str], environment: dict[str, str]) -> dict[str, Any]:
    base = Path(tempfile.mkdtemp(prefix="hostile-", dir="/tmp"))
    try:
        base.chmod(0o755)
        (base / "python").mkdir()
        (base / "repository").mkdir()
        packages = sysconfig.get_path("purelib")
        below = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
        paths = os.pathsep.join(str(base / "repository" / member) for member in MEMBERS)
        environment |= {
            "BASE": str(base),
            "PREFIX": sys.base_prefix,
            "SITE": packages,
            "PACKAGES": below,
            "REPOSITORY": str(ROOT),
            "CLOSED": closed(ROOT),
            "PYTHONPATH": paths,
            "HOSTILE_PATHS": paths,
            "HOME": "/nonexistent",
            "LD_LIBRARY_PATH": str(base / "python" / "lib"),  # an interpreter may look for its own where it was first
        }
        python = base / "python" / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        command = ["unshare", "--mount", "sh", "-c", AS_NOBODY, "sh", str(python), *words]
        return told(subprocess.run(command, cwd="/", env=environment, check=False, **CAPTURED))
    finally:
        for place in (base / "python", base / "repository", base):
            place.rmdir()


def closed(path: Path) -> str:
    """The first folder on the way to a path into which others may not go; empty when there is none."""
    way = [*reversed(path.parents), path]
    return next((str(folder) for folder in way if not folder.stat().st_mode & stat.S_IXOTH), "")


def told(ended: "subprocess.CompletedProcess[bytes]") -> dict[str, Any]:
    assert ended.returncode == 0, ended.stderr.decode()[-4000:]
    answer: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return answer


def users() -> list[Any]:
    """Who can be had here: the user of the tests, and nobody where that is root."""
    if os.getuid():
        return ["user", pytest.param("nobody", marks=pytest.mark.skip("only root can run a host as another user"))]
    tools = [tool for tool in ("unshare", "setpriv", "mount") if shutil.which(tool) is None]
    marks = [pytest.mark.skip(f"there is no {' and no '.join(tools)}")] if tools else []
    return ["root", pytest.param("nobody", marks=marks)]


def test_the_table_tells_of_every_deed_and_of_no_other() -> None:
    assert set(table()) == {*DEEDS, *LIES}
    assert {cell for cells in table().values() for cell in cells.values()} == {"open", "root", "stopped", "group"}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("user", users())
@pytest.mark.parametrize("profile", [pytest.param(name, marks=MARKS[name]) for name in PROFILES])
@pytest.mark.parametrize("deed", sorted(DEEDS))
def test_a_deed_comes_to_what_the_table_says(user: str, profile: str, deed: str) -> None:
    came = outcome(user, profile)
    assert came["user"] == {"nobody": NOBODY}.get(user, os.getuid())
    assert came["profile"] == profile
    result = came["results"][deed]
    says = table()[deed][profile]
    grouped = says == "group" and "control group" in came["active"]
    expected = "stopped" if says == "stopped" or grouped or (says == "root" and came["user"]) else "open"
    if profile == "none" and expected == "open" and "refused" in result and deed in CLOSED_BY_SYSTEMS:
        pytest.skip(f"this system refuses it by itself: {result['refused']}")
    assert list(result) == [{"open": "gained", "stopped": "refused"}[expected]], result


@pytest.mark.timeout(300)
@pytest.mark.parametrize("user", users())
@pytest.mark.parametrize("profile", [pytest.param(name, marks=MARKS[name]) for name in PROFILES])
@pytest.mark.parametrize("transport", ["link", "grpc"])
@pytest.mark.parametrize("deed", sorted(LIES))
def test_what_is_said_out_of_turn_is_not_believed(user: str, profile: str, transport: str, deed: str) -> None:
    assert table()[deed][profile] == "stopped"
    said = outcome(user, profile)["lies"][transport]
    if transport == "link" or deed not in OVER_LINK:
        assert list(said[deed]) == ["refused"], said[deed]
    else:
        assert deed not in said
