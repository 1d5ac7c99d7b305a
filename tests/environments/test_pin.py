from pathlib import Path

import pytest

from enfilade.environments.errors import InstallError
from enfilade.environments.pin import Pin, pins_of_pylock, pins_of_report, requirements_text

HASH = "a" * 64

PYLOCK = f"""
lock-version = "1.0"
[[packages]]
name = "One_Package"
version = "1.0"
wheels = [
    {{ url = "https://host.invalid/files/one_package-1.0-py3-none-any.whl", hashes = {{ sha256 = "{HASH}" }} }},
    {{ url = "https://host.invalid/one_package-1.0%2Bx-py2-none-any.whl", hashes = {{ sha256 = "{"b" * 64}" }} }},
]
[[packages]]
name = "two"
version = "2.0"
sdist = {{ path = "two-2.0.tar.gz", hashes = {{ sha256 = "{HASH}" }} }}
[[packages]]
name = "three"
archive = {{ path = "three-3-py3-none-any.whl", hashes = {{ sha256 = "{HASH}" }} }}
"""


def test_a_resolution_is_pinned_to_files_and_hashes() -> None:
    one, two, three = pins_of_pylock(PYLOCK, Path("/work"))
    assert one.requirement == f"one-package==1.0 --hash=sha256:{HASH} --hash=sha256:{'b' * 64}"
    assert two.requirement == f"two==2.0 --hash=sha256:{HASH}"
    assert three.requirement == f"three @ file:///work/three-3-py3-none-any.whl --hash=sha256:{HASH}"
    assert requirements_text((two, three)).splitlines() == [two.requirement, three.requirement]
    assert three.local_wheels == {Path("/work/three-3-py3-none-any.whl"): HASH}
    assert one.local_wheels == two.local_wheels == {}


def test_what_is_kept_of_a_file_is_its_name_without_its_address() -> None:
    one, _, _ = pins_of_pylock(PYLOCK, Path("/work"))
    assert one.package.files == ("one_package-1.0-py3-none-any.whl", "one_package-1.0+x-py2-none-any.whl")


def test_a_file_in_a_folder_wins_over_others_of_its_version() -> None:
    pin = Pin("x", "1", ("https://host.invalid/x.whl", "file:///sdk/x.whl"), (HASH, "b" * 64))
    assert pin.narrowed(Path("/sdk")).requirement == f"x @ file:///sdk/x.whl --hash=sha256:{'b' * 64}"
    assert pin.narrowed(Path("/sd")) == pin


@pytest.mark.parametrize(
    "package",
    [
        'vcs = { type = "git", url = "https://host.invalid/x", commit-id = "abc" }',
        'directory = { path = "x" }',
        'wheels = [{ url = "https://host.invalid/x.whl", hashes = {} }]',
    ],
)
def test_what_has_no_hash_is_refused(package: str) -> None:
    with pytest.raises(InstallError, match="x would come from a repository or a folder, for which no hash"):
        pins_of_pylock(f'[[packages]]\nname = "x"\nversion = "1"\n{package}\n', Path("/work"))


@pytest.mark.parametrize("text", ["packages = 5", "[[packages]]\nversion = '1'", "=", "packages = ['x']"])
def test_a_resolution_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InstallError, match="the installer's resolution cannot be read"):
        pins_of_pylock(text, Path("/work"))


def test_a_report_of_pip_is_read_alike() -> None:
    item = {
        "metadata": {"name": "Two", "version": "2.0"},
        "download_info": {"url": "file:///w/two-2.0-py3-none-any.whl", "archive_info": {"hashes": {"sha256": HASH}}},
        "is_direct": False,
    }
    [pin] = pins_of_report({"install": [item]})
    assert pin == Pin("two", "2.0", ("file:///w/two-2.0-py3-none-any.whl",), (HASH,))
    with pytest.raises(InstallError, match="pip's report cannot be read"):
        pins_of_report({"install": [{}]})
    with pytest.raises(InstallError, match="no hash can be known"):
        pins_of_report({"install": [item | {"download_info": {"url": "git+x", "vcs_info": {}}}]})
