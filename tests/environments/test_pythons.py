import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from enfilade.environments.command import Place
from enfilade.environments.drift import check_drift
from enfilade.environments.errors import InstallError, Reason, SpecError
from enfilade.environments.hold import take_hold
from enfilade.environments.interpreter import find_interpreter
from enfilade.environments.store import PluginStore
from tests.environments.openers import import_opener
from tests.environments.pythons import here, other_python
from tests.environments.wheels import write_plugin


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    hold = take_hold(tmp_path, exclusive=True)
    assert hold is not None
    with hold:
        yield Place(tmp_path, hold)


HERE = Path(sys.executable).resolve()


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


async def test_without_a_wish_it_is_the_hosts_own(place: Place) -> None:
    found = await find_interpreter(None, place)
    assert str(found.version) == here()
    assert found.path == HERE


async def test_a_virtual_environments_python_stands_for_the_one_it_was_made_with(place: Place) -> None:
    found = await find_interpreter(sys.executable, place)
    assert found.path == HERE


@pytest.mark.parametrize("minor", [12, 13])
async def test_another_python_is_found_by_its_version_and_by_its_path(place: Place, minor: int) -> None:
    path = other_python(minor)
    by_path = await find_interpreter(str(path), place)
    assert by_path.version.release[:2] == (3, minor)
    for wish in (f"3.{minor}", f"python3.{minor}", str(by_path.version)):
        found = await find_interpreter(wish, place)
        assert found.version.release[:2] == (3, minor)


async def test_a_python_is_chosen_that_the_plugin_can_have(place: Place) -> None:
    other_python(12)
    found = await find_interpreter(None, place, ">=3.12")
    assert found.version.release[:2] >= (3, 12)


async def test_a_python_that_is_nowhere_is_an_error_that_says_where_it_was_looked_for(place: Place) -> None:
    with pytest.raises(
        InstallError, match=r"expected Python 3.99, and found none on this machine; looked at "
    ) as caught:
        await find_interpreter("3.99", place)
    assert caught.value.reason is Reason.PYTHON
    with pytest.raises(InstallError, match=r"expected a Python >=4, which the plugin requires, and found none"):
        await find_interpreter(None, place, ">=4")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('echo \'["/p", [3, 10, 1], "cpython", "/p"]\'', "it is 3.10.1, and the SDK needs 3.11"),
        ('echo \'["/p", [3, 11, 1], "pypy", "/p"]\'', "it is pypy 3.11.1"),
        ('echo \'["/p/python", [3, 11, 1], "cpython", "/p"]\'', "/p was made with /p/python, which is gone"),
        ("echo hello", "it does not answer as Python 3 does"),
        ("echo broken >&2; exit 1", "broken"),
        ("printf 'no such command\\n\\n  see the manual\\n' >&2; exit 1", "no such command"),
        ("printf 'Traceback:\\n  x\\nEOFError\\n' >&2; exit 1", "EOFError"),
    ],
)
async def test_what_is_no_python_for_plugins_is_refused(place: Place, tmp_path: Path, text: str, found: str) -> None:
    path = script(tmp_path / "python", text)
    with pytest.raises(SpecError) as caught:
        await find_interpreter(path, place)
    assert f"got {path!r}: {found}" in caught.value.message


@pytest.mark.parametrize(
    ("wish", "found"),
    [
        ("/no/such/python", "cannot start /no/such/python: No such file or directory"),
        ("3.10", "expected Python 3.11 or newer, which the SDK needs, got '3.10'"),
    ],
)
async def test_a_wish_that_cannot_be_met_is_refused(place: Place, wish: str, found: str) -> None:
    with pytest.raises(SpecError) as caught:
        await find_interpreter(wish, place)
    assert found in caught.value.message


@pytest.mark.parametrize("minor", [12, 13])
async def test_a_plugin_may_have_another_python_than_the_host(store: PluginStore, wheelhouse: Path, minor: int) -> None:
    python = other_python(minor)
    write_plugin(wheelhouse, "modern", answer="__import__('sys').version_info", requires_python=f">=3.{minor}")
    entry = await store.add("modern", import_opener, python=str(python))
    assert entry.python_version.startswith(f"3.{minor}.")
    assert entry.python.resolve() == python.resolve()
    assert (entry.venv / "lib" / f"python3.{minor}" / "site-packages" / "modern" / "__pycache__").is_dir()
    assert (await store.update("modern", import_opener)).python_version == entry.python_version
    check_drift(store.entry("modern"))


async def test_a_wheel_that_needs_a_newer_python_gets_one_unasked(store: PluginStore, wheelhouse: Path) -> None:
    other_python(12)
    wheel = write_plugin(wheelhouse, "modern", requires_python=">=3.12")
    assert not (await store.add(str(wheel), import_opener)).python_version.startswith("3.11.")


async def test_a_name_that_needs_a_newer_python_fails_with_the_reason(store: PluginStore, wheelhouse: Path) -> None:
    write_plugin(wheelhouse, "modern", requires_python=">=3.99")
    with pytest.raises(InstallError, match=r"requires Python >=3.99") as caught:
        await store.add("modern", import_opener)
    assert caught.value.reason is Reason.PYTHON
    assert "a package needs another Python; name one" in caught.value.message
