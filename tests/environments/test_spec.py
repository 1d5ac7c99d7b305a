from pathlib import Path

import pytest

from enfilade.environments.errors import SpecError
from enfilade.environments.spec import parse_spec
from enfilade_sdk.errors import ErrorCode
from tests.environments.wheels import write_plugin


@pytest.mark.parametrize(
    ("text", "name", "requirement"),
    [
        ("greeter", "greeter", "greeter"),
        (" Big_Greeter ", "big-greeter", "Big_Greeter"),
        ("greeter==1.2", "greeter", "greeter==1.2"),
        ("greeter >= 1, < 2", "greeter", "greeter<2,>=1"),
        ("greeter[extra]", "greeter", "greeter[extra]"),
    ],
)
def test_a_name_may_have_a_version(text: str, name: str, requirement: str) -> None:
    spec = parse_spec(text)
    assert (spec.kind, spec.name, spec.requirement, spec.path) == ("name", name, requirement, None)


def test_a_wheel_is_known_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = write_plugin(tmp_path, "big-greeter")
    monkeypatch.chdir(tmp_path)
    spec = parse_spec(wheel.name)
    assert (spec.kind, spec.name, spec.path, spec.text) == ("wheel", "big-greeter", wheel, str(wheel))


def test_a_folder_needs_a_separator_so_that_a_name_means_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "greeter").mkdir()
    (tmp_path / "greeter" / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert parse_spec("greeter").kind == "name"
    assert parse_spec("./greeter").path == tmp_path / "greeter"
    assert parse_spec(str(tmp_path / "greeter")).kind == "source"


def test_a_source_archive_is_source(tmp_path: Path) -> None:
    (tmp_path / "greeter-1.tar.gz").touch()
    assert parse_spec(f"{tmp_path}/greeter-1.tar.gz").kind == "source"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "got something that is none of them"),
        ("--index-url=http://example.invalid", "got something that is none of them"),
        ("-r requirements.txt", "got something that is none of them"),
        ("two words", "got something that is none of them"),
        ("greeter @ https://example.invalid/x.zip", "got an address; download the wheel"),
        ("greeter; python_version > '3'", "got an environment marker"),
        ("no-such-1-py3-none-any.whl", "there is no "),
        ("./no-such", "there is no "),
        ("no-such.tar.gz", "there is no "),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_was_expected(text: str, found: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert f"cannot install {text!r}: expected NAME, NAME==VERSION, a wheel's path" in caught.value.message
    assert found in caught.value.message
    assert caught.value.code is ErrorCode.INVALID_PARAMS


def test_files_that_are_not_what_they_seem_are_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.whl").touch()
    (tmp_path / "folder-1-py3-none-any.whl").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").touch()
    for name, found in [
        ("odd.whl", "the file's name is not a wheel's"),
        ("folder-1-py3-none-any.whl", "is not a file"),
        ("empty", "has no pyproject.toml, so nothing can be built from it"),
        ("text.txt", "is neither a wheel, nor a source archive, nor a folder"),
    ]:
        with pytest.raises(SpecError, match=found):
            parse_spec(str(tmp_path / name))
