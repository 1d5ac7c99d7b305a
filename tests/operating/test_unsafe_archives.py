"""Wheels that would write outside their environment are refused by the command before anything is written."""

import stat
import zipfile
from pathlib import Path

import pytest

from tests.environments.wheels import link, write_plugin
from tests.operating.operator import Operator

BAD: dict[str, str | zipfile.ZipInfo] = {
    "up in the middle": "inner/../../neighbour/main.py",
    "up": "../../../etc/cron.d/x",
    "a neighbour whose name begins alike": "../plug-evil/main.py",
    "absolute": "/abs/x.txt",
    "a drive": "C:\\win.txt",
    "backslashes": "..\\up.txt",
    "a link": link("link"),
}


def everything(folder: Path) -> dict[str, tuple[int, float]]:
    """Each file below a folder, with its size and time."""
    files = [path for path in folder.rglob("*") if stat.S_ISREG(path.lstat().st_mode)]
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime) for path in files}


@pytest.mark.parametrize("kind", BAD)
async def test_an_archive_with_one_bad_member_writes_nothing(operator: Operator, tmp_path: Path, kind: str) -> None:
    (operator.root / "plug-evil").mkdir(parents=True)
    (operator.root / "plug-evil" / "main.py").write_text("mine")
    wheel = operator.write("plug", odd=[("plugin.yaml", "x"), (BAD[kind], "/etc" if kind == "a link" else "x")])
    before = everything(tmp_path)
    refused = await operator.add(wheel)
    assert refused.code == 1
    assert "the wheel plug-1.0.0-py3-none-any.whl is refused and nothing of it was written" in refused.err
    new = {path for path, look in everything(tmp_path).items() if before.get(path) != look}
    assert {path for path in new if not path.startswith(("root/.changing", "root/sdk/"))} == set()


async def test_a_bomb_is_refused_unread(operator: Operator) -> None:
    wheel = operator.write("plug")
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("bomb.bin", "w") as member:
        for _ in range(128):
            member.write(bytes(1024 * 1024))
    refused = await operator.add(wheel)
    assert refused.code == 1
    assert "times its own size; the limit is 200" in refused.err


async def test_what_stays_inside_is_installed(operator: Operator) -> None:
    odd = [("plugin.yaml", "x"), ("a/./b//c.py", "y = 1")]
    assert (await operator.add(write_plugin(operator.wheels, "plug", odd=odd))).code == 0
    [folder] = operator.recorded()
    [packages] = (operator.root / "environments" / folder).glob("venv/lib/python3*/site-packages")
    assert (packages / "plugin.yaml").is_file()
    assert (packages / "a" / "b" / "c.py").is_file()
