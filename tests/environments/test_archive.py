import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.environments.archive import ArchiveLimits, check_wheel
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.member import UnsafeNameError, check_no_overlap, inner_path
from enfilade.environments.store import PluginStore
from tests.environments.openers import import_opener
from tests.environments.wheels import link, write_plugin, write_wheel


def refusal(path: Path, limits: ArchiveLimits | None = None) -> str:
    with pytest.raises(InstallError) as caught:
        check_wheel(path, limits)
    assert caught.value.reason is Reason.UNSAFE_ARCHIVE
    return caught.value.message


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


BAD_MEMBERS = {
    "inner/../../neighbour/main.py": "goes up",
    "../../../etc/cron.d/x": "goes up",
    "../plug-evil/main.py": "goes up",
    "plug-1.0.0.data/data/../../../out.txt": "goes up",
    "/abs/x.txt": "absolute",
    "C:\\win.txt": "backslash",
    "C:win.txt": "absolute",
    "..\\up.txt": "backslash",
    "a\nb.py": "control character",
}


@pytest.mark.parametrize("member", BAD_MEMBERS)
def test_a_member_with_a_path_outside_is_refused(tmp_path: Path, member: str) -> None:
    message = refusal(write_plugin(tmp_path, "plug", odd=[(member, "x")]))
    assert f"the member {member!r} is refused: it" in message
    assert BAD_MEMBERS[member] in message
    assert "nothing of it was written" in message


@pytest.mark.parametrize("member", BAD_MEMBERS)
async def test_a_wheel_with_a_path_outside_writes_no_file_anywhere(
    store: PluginStore, tmp_path: Path, member: str
) -> None:
    neighbour = store.root / "environments" / "plug-evil"
    neighbour.mkdir(parents=True)
    wheel = write_plugin(tmp_path / "given", "plug", odd=[(member, "x")])

    with pytest.raises(InstallError, match="is refused"):
        await store.add(str(wheel), import_opener)

    assert files(tmp_path) - {f"given/{wheel.name}", "root/.changing"} == set()


async def test_the_same_wheel_from_a_folder_of_wheels_is_refused_too(store: PluginStore, wheelhouse: Path) -> None:
    write_plugin(wheelhouse, "plug", requires=["inner"])
    write_wheel(wheelhouse, "inner", odd=[("inner/../../neighbour/main.py", "x")])
    with pytest.raises(InstallError, match=r"inner/\.\./\.\./neighbour/main\.py"):
        await store.add("plug", import_opener)
    assert store.entries() == []


async def test_a_path_that_stays_inside_is_accepted_in_whatever_form(store: PluginStore, tmp_path: Path) -> None:
    wheel = write_plugin(tmp_path, "plug", odd=[("plugin.yaml", "x"), ("a/./b//c.py", "y = 1")])
    entry = await store.add(str(wheel), import_opener)
    [packages] = entry.venv.glob("lib/python3.*/site-packages")
    assert (packages / "plugin.yaml").is_file()
    assert (packages / "a" / "b" / "c.py").is_file()


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    assert "the member 'link' is refused: it is a symbolic link" in refusal(
        write_plugin(tmp_path, "plug", odd=[(link("link"), "/etc"), ("link/passwd", "x")])
    )


def test_a_device_is_refused(tmp_path: Path) -> None:
    device = zipfile.ZipInfo("device")
    device.external_attr = 0o060666 << 16
    assert "it is neither a file nor a folder" in refusal(write_plugin(tmp_path, "plug", odd=[(device, "")]))


def test_a_file_that_is_also_a_folder_is_refused(tmp_path: Path) -> None:
    path = write_plugin(tmp_path, "plug", odd=[("link", "x"), ("link/passwd", "x")])
    assert "link is a file and a folder at once" in refusal(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = write_plugin(tmp_path, "plug", odd=[("plug/./strategy.py", "x")])
    assert "plug/strategy.py is in it twice" in refusal(path)


def test_what_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = write_plugin(tmp_path, "plug", odd=[("bomb.bin", "\0" * (66 * 1024 * 1024))])
    assert "times its own size; the limit is 200" in refusal(path)
    assert "it unpacks to 66 MiB and the limit is 10 MiB" in refusal(path, ArchiveLimits(total_bytes=10 << 20))
    assert "it has 7 members and the limit is 5" in refusal(path, ArchiveLimits(members=5))
    assert check_wheel(path, ArchiveLimits(ratio=2000)).name == "plug"


def test_a_size_that_is_a_lie_is_refused(tmp_path: Path) -> None:
    path = write_plugin(tmp_path, "plug", odd=[("bomb.bin", "\0" * 100_000)])
    data = path.read_bytes()
    told = (100_000).to_bytes(4, "little")
    path.write_bytes(data.replace(told, (10).to_bytes(4, "little")))
    assert data.count(told) == 2
    assert "it is damaged: Bad CRC-32" in refusal(path)


def test_a_wheel_that_was_changed_after_it_was_built_is_refused(tmp_path: Path) -> None:
    path = write_wheel(tmp_path, "plug", files={"plug.py": "x = 1"}, record={"plug.py": "sha256=AAAA"})
    assert "plug.py is not what RECORD says" in refusal(path)


def test_a_wheel_without_metadata_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plug-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("plug-1.0.dist-info/RECORD", "")
    assert "it has no plug-1.0.dist-info/METADATA" in refusal(path)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = write_plugin(tmp_path, "plug")
    path.write_bytes(path.read_bytes()[:-40])
    assert "it is damaged" in refusal(path)
    path.write_bytes(b"not a zip file")
    assert "it is damaged: File is not a zip file" in refusal(path)


def test_a_wheel_that_is_not_what_its_name_says_is_refused(tmp_path: Path) -> None:
    path = write_plugin(tmp_path, "plug")
    other = path.rename(tmp_path / "other-1.0.0-py3-none-any.whl")
    assert "its file is named for other 1.0.0 and it holds plug-1.0.0.dist-info" in refusal(other)
    later = other.rename(tmp_path / "plug-2.0-py3-none-any.whl")
    assert "its file is named for plug 2.0 and it holds plug-1.0.0.dist-info" in refusal(later)


def test_a_wheel_with_metadata_of_another_is_refused(tmp_path: Path) -> None:
    path = write_wheel(tmp_path, "plug", odd=[("stranger-1.dist-info/METADATA", "Name: stranger")])
    assert "expected one .dist-info folder in it, found plug-1.0.0.dist-info, stranger-1.dist-info" in refusal(path)


def test_a_checked_wheel_tells_what_it_is(tmp_path: Path) -> None:
    facts = check_wheel(write_plugin(tmp_path, "Big-Plug", "2.0", requires_python=">=3.12"))
    assert (facts.name, facts.version, facts.requires_python, len(facts.sha256)) == ("big-plug", "2.0", ">=3.12", 64)


NAMES = st.lists(st.sampled_from(["a", "b", "..", ".", "", "a b", "\\", "C:", "...", "~", "\x00"]), max_size=6).map(
    "/".join
)


@given(NAMES | st.text(max_size=12))
def test_what_is_accepted_stays_inside_and_means_the_same_file(name: str) -> None:
    try:
        path = inner_path(name)
    except UnsafeNameError:
        return
    root = "/srv/plug"
    whole = os.path.normpath(f"{root}/{name}")
    assert whole.startswith(f"{root}/")
    assert whole == f"{root}/{path}"


@given(st.lists(st.sampled_from(["a", "a/b", "a/b/c", "b", "ab", "ab/c"]), max_size=5))
def test_paths_overlap_exactly_when_they_cannot_all_be_files(paths: list[str]) -> None:
    clash = len(set(paths)) < len(paths) or any(b.startswith(f"{a}/") for a in paths for b in paths)
    if clash:
        with pytest.raises(UnsafeNameError):
            check_no_overlap(paths)
    else:
        check_no_overlap(paths)
