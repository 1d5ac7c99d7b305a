"""What of an environment runs before the plugin does: nothing until the streams are guarded."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from enfilade.candidate import Candidate, Offer
from enfilade.isolation.launch_spec import LaunchSpec, sdk_command
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.process import StopTimes
from enfilade.isolation.supervision.guest import StartedGuest
from enfilade.isolation.watch import Watch
from enfilade_sdk.errors import GuestDiedError, NotAdmittedError
from enfilade_sdk.serving import doorway
from tests.environments.pythons import other_python
from tests.support.leftovers import nothing_left
from tests.support.trial_run import texts

SERVING = """
import builtins, json, os, sys

def main(words, streams):
    out, lifeline = streams
    print("from a print")
    told = {"words": words, "argv": sys.argv[1:], "path": sys.path, "prefix": sys.prefix, "read": sys.stdin.read()}
    told |= {"modules": sorted(sys.modules), "lifeline": os.read(lifeline, 100).decode(), "builtins": dir(builtins)}
    json.dump(told, out)
    out.close()
    os._exit(0)
"""
"""Stands in for the SDK that is installed in the environment."""


def environment(folder: Path, files: dict[str, str], version: str = "3.11") -> Path:
    """A virtual environment by its folders; gives its packages."""
    packages = folder / "venv" / "lib" / f"python{version}" / "site-packages"
    sdk = packages / "enfilade_sdk" / "serving"
    sdk.mkdir(parents=True)
    (folder / "venv" / "pyvenv.cfg").write_text("home = /nowhere\n")
    for init in (sdk.parent / "__init__.py", sdk / "__init__.py"):
        init.write_text("")
    (sdk / "process.py").write_text(SERVING)
    for name, text in files.items():
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text(text)
    return packages


def came_in(site: str, *words: str, python: str | Path = sys.executable) -> tuple[dict[str, Any], str]:
    command = [python, "-I", "-S", "-B", doorway.__file__, site, *words]
    ended = subprocess.run(command, input="the life line", capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout), ended.stderr


def test_nothing_runs_by_being_in_an_environment(tmp_path: Path) -> None:
    mark = tmp_path / "it ran"
    code = f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n"
    files = {"a.pth": code, "b.pth": f"import\tos, pathlib; {code[8:]}", "sitecustomize.py": code}
    files |= {"usercustomize.py": code, "_virtualenv.pth": "import _virtualenv\n", "_virtualenv.py": code}
    told, _ = came_in(str(environment(tmp_path, files)))
    assert not mark.exists()
    assert not {"sitecustomize", "usercustomize", "_virtualenv"} & set(told["modules"])


def test_folders_of_pth_files_count_as_far_as_they_are_within_the_environment(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    lines = f"# a comment\n\ninner/deep\n{outside}\n../../../../outside\ninner/deep\nmissing\nimport os\n.\n\0\n"
    packages = environment(tmp_path, {"a.pth": lines, ".hidden.pth": "inner\n", "inner/deep/found.py": ""})
    told, _ = came_in(str(packages))
    assert told["path"][-2:] == [str(packages), str(packages / "inner" / "deep")]
    assert str(outside) not in told["path"]
    assert told["prefix"] == str(tmp_path / "venv")


def test_the_streams_are_guarded_before_anything_else_and_the_words_arrive(tmp_path: Path) -> None:
    told, errors = came_in(str(environment(tmp_path, {})), "--path=/x", "who=main:Who")
    assert {"exit", "help"} <= set(told["builtins"])
    assert told["words"] == told["argv"] == ["--path=/x", "who=main:Who"]
    assert (errors, told["read"], told["lifeline"]) == ("from a print\n", "", "the life line")


@pytest.mark.parametrize("minor", [12, 13])
def test_the_door_is_the_hosts_and_opens_other_pythons_too(tmp_path: Path, minor: int) -> None:
    packages = environment(tmp_path, {}, f"3.{minor}")
    told, _ = came_in(str(packages), python=other_python(minor))
    assert told["prefix"] == str(tmp_path / "venv")


def test_an_environment_without_the_sdk_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", doorway.__file__, str(tmp_path), "x:X"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "the SDK cannot be imported from " in ended.stderr
    assert "No module named 'enfilade_sdk'" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_the_interpreters_own_environment_is_set_up_as_python_does_it(tmp_path: Path) -> None:
    """Editable installations are `.pth` files; the SDK of these tests is one."""
    (tmp_path / "mine.py").write_text(
        "import sys, site\n\nclass Who:\n    def get_parameters(self):\n        return []\n\n"
        "    def invoke(self):\n        yield f'{sys.prefix} {sys.flags.no_site} {site.ENABLE_USER_SITE}'\n"
    )
    candidate = Candidate(plugin="mine", offers=(Offer("who", "mine:Who"),), paths=(str(tmp_path),), start_timeout=20)
    launcher = Launcher()
    guest = launcher.guest(candidate)
    try:
        assert await texts(guest, "who") == [f"{sys.prefix} 1 False"]
    finally:
        await guest.stop()
        await launcher.close()


async def test_a_check_refuses_each_start_and_not_only_the_first(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import os\n\nclass Who:\n    def get_parameters(self):\n        return []\n\n"
        "    def invoke(self):\n        os._exit(1)\n        yield ''\n"
    )
    calls: list[str] = []

    def check() -> None:
        calls.append("checked")
        if len(calls) > 1:
            raise NotAdmittedError("it was changed")

    command = sdk_command(sys.executable, ["who=mine:Who"], [str(tmp_path)])
    watch = Watch()
    async with nothing_left():
        guest = StartedGuest(LaunchSpec("mine", command, start_timeout=20, check=check), watch, StopTimes())
        try:
            await guest.describe()
            await guest.describe()
            assert len(calls) == 1
            with pytest.raises(GuestDiedError):
                await texts(guest, "who")
            with pytest.raises(NotAdmittedError, match="it was changed"):
                await texts(guest, "who")
            assert guest.pid is None
        finally:
            await guest.stop()
            await watch.close()
