"""What an operator says of sandboxes, and what of the file system follows from it."""

import json
import os
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from enfilade.candidate import Candidate
from enfilade.cli import checkup
from enfilade.config import Config, PluginSettings
from enfilade.extensions.launchers import Launchers
from enfilade.hookspecs import LauncherKind
from enfilade.isolation.sandbox.bubblewrap import enclosed, exit_code
from enfilade.isolation.sandbox.layers import PARTS, Layer
from enfilade.isolation.sandbox.places import command_places, interpreter_places, package_places, variable_places
from enfilade.sandboxing import Sandboxing
from enfilade.settings.sandbox import SandboxSettings
from tests.support.faulty_guest import ROOT

MIB = 1024 * 1024


def test_plugins_without_settings_are_confined_by_the_standard() -> None:
    assert Config().sandboxing("any") == Sandboxing("standard", required=False, subprocess=True, cpu_seconds=None)


def test_strict_is_required_bounds_processor_time_and_starts_no_processes() -> None:
    asked = Config(sandbox="strict").sandboxing("any")
    assert (asked.required, asked.cpu_seconds, asked.subprocess) == (True, 3600, False)


def test_a_plugins_own_settings_win_however_its_name_is_written() -> None:
    settings = {
        "sandbox": "strict",
        "sandbox_required": False,
        "network": True,
        "memory": "512 MiB",
        "cpu_seconds": 60,
        "open_files": 100,
        "file_size": "1MiB",
        "readable": ["/srv"],
        "subprocess": True,
    }
    config = Config.model_validate({"sandbox": "none", "sandbox_required": True, "plugins": {"Tide_Table": settings}})
    expected = Sandboxing("strict", False, True, 512 * MIB, 60, 100, MIB, ("/srv",), True)
    assert config.sandboxing("tide-table") == expected
    assert config.sandboxing("another") == Sandboxing("none", required=True)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"sandbox": "strictest"}, "Input should be 'none', 'standard' or 'strict'"),
        ({"memory": "1 MiB"}, "greater than or equal to 67108864"),
        ({"cpu_seconds": 0}, "greater than or equal to 1"),
        ({"readable": ["models"]}, "expected absolute paths, got 'models'"),
        ({"isolation": "inprocess", "sandbox": "strict"}, 'sandbox = "strict" needs a process'),
        ({"isolation": "inprocess", "sandbox_required": True}, "sandbox_required = true needs a process"),
        ({"isolation": "inprocess", "memory": "1 GiB"}, "memory needs a process"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        PluginSettings.model_validate(settings)


def test_every_setting_and_every_layer_stands_on_the_page() -> None:
    page = (ROOT / "docs" / "isolation.md").read_text(encoding="utf-8")
    assert [name for name in SandboxSettings.model_fields if f"\n{name} = " not in page] == []
    assert [name for name in PARTS if name not in page.lower()] == []


def test_a_launcher_hears_what_the_configuration_says_and_what_a_candidate_says_itself() -> None:
    heard: list[Candidate] = []

    class Hears:
        def guest(self, candidate: Candidate) -> None:
            heard.append(candidate)

    kind = LauncherKind("process", "hears", Hears)  # type: ignore[arg-type]  # it makes nothing that runs
    launchers = Launchers({"process": kind}, Config(sandbox="strict"))
    launchers.runner(Candidate(plugin="p"))
    launchers.runner(Candidate(plugin="p", sandboxing=Sandboxing("none")))
    assert [candidate.sandboxing and candidate.sandboxing.profile for candidate in heard] == ["strict", "none"]


@pytest.mark.parametrize(
    ("config", "verdicts"),
    [
        (Config(), {"landlock": "ok", "bubblewrap": "note"}),
        (Config(sandbox="strict"), {"landlock": "ok", "bubblewrap": "fault"}),
        (Config(sandbox_required=True), {"landlock": "ok", "bubblewrap": "note"}),
        (Config(plugins={"p": PluginSettings(sandbox="strict")}), {"landlock": "ok", "bubblewrap": "fault"}),
    ],
)
def test_the_doctor_finds_fault_only_with_a_missing_layer_that_is_required(
    config: Config, verdicts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without = Layer("bubblewrap", "namespaces", "bwrap was not found", frozenset({"strict"}))
    found = [Layer("landlock", "files (version 7)"), without]
    monkeypatch.setattr(checkup, "layers", lambda: found)
    checks = list(checkup._sandbox(config))  # noqa: SLF001 - the doctor looks at much besides
    assert {check.name.removeprefix("sandbox: "): check.verdict for check in checks} == verdicts
    assert checks[1].text == "bwrap was not found; without it: namespaces"


def test_an_interpreter_reads_its_own_parts_and_not_what_lies_beside_them(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    places = set(interpreter_places(str(tmp_path / "bin" / "python3")))
    assert {f"{tmp_path}/bin", f"{tmp_path}/lib", f"{tmp_path}/pyvenv.cfg"} <= places
    assert f"{Path(os.path.realpath(sys.executable)).parents[1]}/lib" in places
    assert str(tmp_path) not in places


def test_editable_packages_are_found_by_their_pth_files_and_by_their_own_word(tmp_path: Path) -> None:
    packages = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    for name, editable in (("mapped", True), ("copied", False), ("broken", None)):
        info = packages / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        told = {"url": f"file://{tmp_path}/{name}%20project", "dir_info": {"editable": editable}}
        (info / "direct_url.json").write_text("{" if editable is None else json.dumps(told))
    (tmp_path / "source").mkdir()
    (packages / "a.pth").write_text(f"# no\nimport sys\n{tmp_path}/source\n{tmp_path}/missing\n")
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    assert list(package_places(str(python))) == [f"{tmp_path}/source", f"{tmp_path}/mapped project"]


def test_a_command_reads_what_it_names_and_the_folders_its_files_lie_in(tmp_path: Path) -> None:
    program = tmp_path / "plugin" / "run"
    program.parent.mkdir()
    program.touch(mode=0o755)
    (tmp_path / "data").mkdir()
    places = set(command_places([str(program), "--data", str(tmp_path / "data"), "word", "/tmp", "/"], "/bin"))
    assert places == {str(program), str(program.parent), str(tmp_path / "data")}


def test_variables_name_paths_but_for_those_of_work() -> None:
    given = {"MODELS": "/srv/a:/srv/b", "HOME": "/srv/home", "WORD": "word", "ROOT": "/", "TOP": "/tmp"}
    assert list(variable_places(given)) == ["/srv/a", "/srv/b"]


def test_namespaces_hold_the_named_paths_once_and_the_private_directory_for_writing(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a-b").mkdir()
    paths = [str(tmp_path / name) for name in ("a/b", "a-b", "a")]
    command = enclosed("/usr/bin/bwrap", ("/bin/true",), paths, "/tmp/enf-1", network=True)
    bound = [command[i + 1] for i, word in enumerate(command) if word == "--ro-bind-try"]
    assert bound == [paths[1], paths[2]]
    assert command[command.index("--bind") + 1] == "/tmp/enf-1"
    assert "--unshare-net" not in command
    assert "--unshare-net" in enclosed("/usr/bin/bwrap", ("/bin/true",), paths, "/tmp/enf-1", network=False)


@pytest.mark.parametrize(
    ("code", "means"), [(None, None), (0, 0), (1, 1), (128, 128), (137, -9), (139, -11), (255, 255)]
)
def test_a_signals_death_is_told_as_one(code: int | None, means: int | None) -> None:
    assert exit_code(code) == means
