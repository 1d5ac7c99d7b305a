import subprocess
import sys
import zipfile
from pathlib import Path

from importlib_metadata import version

from enfilade.environments.archive import check_wheel
from enfilade.environments.sdk import host_sdk


def test_the_hosts_own_sdk_becomes_proper_wheels_of_its_version(tmp_path: Path) -> None:
    sdk = host_sdk(tmp_path)
    facts = [check_wheel(path) for path in sorted(sdk.folder.iterdir())]
    assert [(f.name, f.version) for f in facts] == [
        ("enfilade-sdk", version("enfilade-sdk")),
        ("enfilade-wire", version("enfilade-wire")),
    ]
    assert sdk.requirement == f"enfilade-sdk<={version('enfilade-sdk')}"


def test_the_wheels_are_made_once_and_are_the_same_wherever_they_are_made(tmp_path: Path) -> None:
    one, two = host_sdk(tmp_path / "one"), host_sdk(tmp_path / "two")
    assert one.folder.name == two.folder.name
    assert [p.read_bytes() for p in sorted(one.folder.iterdir())] == [
        p.read_bytes() for p in sorted(two.folder.iterdir())
    ]
    times = [path.stat().st_mtime_ns for path in one.folder.iterdir()]
    assert host_sdk(tmp_path / "one") == one
    assert [path.stat().st_mtime_ns for path in one.folder.iterdir()] == times


def test_a_plugin_can_be_served_from_the_wheels(tmp_path: Path) -> None:
    sdk = host_sdk(tmp_path / "cache")
    for wheel in sdk.folder.iterdir():
        zipfile.ZipFile(wheel).extractall(tmp_path / "unpacked")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import enfilade_sdk.serving; print(enfilade_sdk.__file__)"
    ended = subprocess.run(
        [sys.executable, "-I", "-c", code, str(tmp_path / "unpacked")], capture_output=True, text=True, check=True
    )
    assert ended.stdout.startswith(str(tmp_path / "unpacked"))


def test_wheels_of_earlier_contents_are_dropped_after_a_while(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"old{number}").mkdir()
    fresh = host_sdk(tmp_path).folder
    left = list(tmp_path.iterdir())
    assert fresh in left
    assert len(left) == 3


def test_what_a_killed_host_left_half_made_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".new").mkdir()
    (tmp_path / ".new" / "half.whl").touch()
    assert len(list(host_sdk(tmp_path).folder.iterdir())) == 2
    assert not (tmp_path / ".new").exists()
