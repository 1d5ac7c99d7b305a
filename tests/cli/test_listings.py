import json
import re
from pathlib import Path

import pytest

from enfilade.cli import program
from enfilade.cli.screen import ReaderGoneError
from tests.support.enfilade_command import Enfilade

CONFIG = """
default_model = "small"

[models.small]
name = "vendor/small-1"
base_url = "http://127.0.0.1:1/v1"
api_key_env = "SMALL_KEY"
vision = true
context_window = 32000

[models.open]
base_url = "http://127.0.0.1:2/v1"
tools = false

[tools.notes]
tool = "read_file:notes"
description = "reads my notes"

[tools.off]
tool = "calculator"
enabled = false
"""


async def test_models_tell_where_each_is_what_it_can_and_whether_its_key_is_there(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", CONFIG)
    enfilade.environment["SMALL_KEY"] = "sk-0123456789-secret"
    done = await enfilade("models", "--json")
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert list(rows) == ["demo", "open", "small"]
    assert rows["small"]["default"] is True
    assert rows["small"]["model"] == "vendor/small-1"
    assert rows["small"]["endpoint"] == "http://127.0.0.1:1/v1"
    assert rows["small"]["context_window"] == 32000
    assert (rows["small"]["api_key_env"], rows["small"]["api_key_set"]) == ("SMALL_KEY", True)
    assert "vision" in rows["small"]["abilities"]
    assert "tools" not in rows["open"]["abilities"]
    assert rows["demo"]["provider"] == "demo"
    table = await enfilade("models")
    assert re.search(r"^small \(default\) .*SMALL_KEY \(set\)$", table.text, re.MULTILINE)
    assert "sk-0123456789" not in done.text + table.text


async def test_a_key_that_is_not_set_stands_out(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", CONFIG)
    assert "SMALL_KEY (NOT SET)" in (await enfilade("models")).text


async def test_tools_tells_configured_built_in_and_installed_ones(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", CONFIG)
    folder = enfilade.folder / "site" / "harbour_tools-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: harbour-tools\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[enfilade.tools]\ntide = harbour_tools_that_is_not_there:tide\n")
    enfilade.environment["PYTHONPATH"] = str(enfilade.folder / "site")
    done = await enfilade("tools", "--json")
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert rows["notes"] == {"name": "notes", "origin": "configuration", "description": "reads my notes"}
    assert rows["off"]["origin"] == "configuration (disabled)"
    assert rows["calculator"]["origin"] == "builtin"
    assert {"current_time", "read_file:FOLDER"} <= rows.keys()
    assert rows["tide"]["origin"] == "harbour-tools"
    assert (await enfilade("tools")).text.splitlines()[0].split() == ["NAME", "ORIGIN", "DESCRIPTION"]


async def test_a_faulty_configuration_is_an_error_of_every_listing(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", "isolation = 'moat'\n")
    for words in (("models",), ("tools",), ("plugins", "list"), ("plugins", "info", "function-calling")):
        done = await enfilade(*words)
        assert done.code == 1
        assert "enfilade.toml has 1 fault(s)" in done.err
        assert "Traceback" not in done.err


async def test_the_doctor_finds_all_well(enfilade: Enfilade) -> None:
    done = await enfilade("doctor", "--json")
    report = json.loads(done.out)
    checks = {check["name"]: check for check in report["checks"]}
    assert (done.code, report["ok"], done.err) == (0, True, "")
    for name in ("python", "platform", "versions", "configuration", "private directories", "strategies", "uv"):
        assert checks[name]["verdict"] in {"ok", "note"}
    assert re.search(
        r"enfilade-fc started, described itself and ended in \d+\.\d\d s", checks["plugin processes"]["text"]
    )
    assert str(enfilade.runtime) in checks["private directories"]["text"]


async def test_the_doctor_tells_people_the_same_in_lines(enfilade: Enfilade) -> None:
    lines = (await enfilade("doctor")).text.splitlines()
    assert lines[0].startswith("ok     python: 3.")
    assert lines[-1] == "all is well"


async def test_the_doctor_names_faults_and_goes_on(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", "isolation = 'moat'\n")
    enfilade.environment["ENFILADE_RUNTIME_DIR"] = str(Path("/proc/no/such/place"))
    done = await enfilade("doctor")
    assert done.code == 1
    assert "FAULT  configuration: enfilade.toml has 1 fault(s):" in done.text
    assert "FAULT  private directories: ENFILADE_RUNTIME_DIR does not serve" in done.text
    assert done.text.endswith("there are faults, see above\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[layers]]\nkind = 'lmits'\n", "FAULT  host: the layers of the configuration have 1 fault(s):"),
        ("[store]\nurl = 'sqlite:///no/folder/r.db'\n", "FAULT  store: the store no/folder/r.db cannot be made: "),
    ],
)
async def test_the_doctor_says_what_keeps_a_host_from_starting_and_goes_on(
    enfilade: Enfilade, text: str, words: str
) -> None:
    enfilade.write("enfilade.toml", text)
    done = await enfilade("doctor")
    assert (done.code, done.err) == (1, "")
    assert words in done.text
    assert "ok     plugin processes: enfilade-fc started" in done.text


async def test_the_doctor_notes_keys_that_are_not_set_and_a_default_that_is_not_there(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", CONFIG.replace('default_model = "small"', 'default_model = "smal"'))
    done = await enfilade("doctor")
    assert done.code == 1
    assert "note   model small: SMALL_KEY not set in the environment" in done.text
    assert "FAULT  default model: default_model is 'smal', and there is no such model" in done.text


async def test_the_doctor_asks_configured_plugins_what_they_offer(enfilade: Enfilade) -> None:
    enfilade.write("authority.pem", "-----BEGIN NOTHING-----\n")
    files = 'ca = "authority.pem"\ncertificate = "authority.pem"\nkey = "authority.pem"\n'
    enfilade.write(
        "enfilade.toml",
        f'[plugins.near]\naddress = "unix:/tmp/none.sock"\n[plugins.far]\naddress = "grpcs://127.0.0.1:1"\n{files}',
    )
    done = await enfilade("doctor")
    assert (done.code, done.err) == (1, "")  # what gRPC's own code prints about the certificates is not there either
    near = "FAULT  plugin near: plugin 'near' at unix:/tmp/none.sock cannot be asked what it offers: "
    far = "FAULT  plugin far: plugin 'far': ca: expected an authority's certificate, authority.pem has none"
    assert near in done.text
    assert far in done.text


async def test_a_strategy_of_a_plugin_that_cannot_be_asked_is_refused_with_the_reason(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", '[plugins.near]\naddress = "unix:/tmp/none.sock"\n')
    done = await enfilade("run", "-s", "polite", "?")
    assert done.code == 1
    assert "there is no strategy 'polite'; there are: chain-of-thought, function-calling\n" in done.err
    assert "- plugin 'near' at unix:/tmp/none.sock cannot be asked what it offers: " in done.err


async def test_the_doctor_names_settings_that_do_nothing_and_providers_that_there_are_not(enfilade: Enfilade) -> None:
    plugins = "[plugins.function-calling]\nstart_timeout = 3\n[plugins.Enfilade_COT]\nstart_timeout = 3\n"
    enfilade.write("enfilade.toml", f'{plugins}[models.m]\nprovider = "opnai"\nbase_url = "http://127.0.0.1:1/v1"\n')
    done = await enfilade("doctor")
    assert done.code == 1
    nothing = "there are settings and no such plugin, so they do nothing; did you mean 'enfilade-fc'"
    assert f"note   plugin function-calling: {nothing}" in done.text
    assert "plugin Enfilade_COT" not in done.text
    assert (
        "FAULT  model m: model 'm' has the provider 'opnai', of which there is none; did you mean 'openai'?"
        in done.text
    )


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("plugins", "info", "nosuch", "--json"), 1, "not_admitted"),
        (("runs", "show", "--json"), 2, "invalid_params"),
    ],
)
async def test_who_asks_for_json_gets_a_failure_as_json_too(
    enfilade: Enfilade, words: tuple[str, ...], code: int, error: str
) -> None:
    done = await enfilade(*words)
    assert (done.code, json.loads(done.out)["error"]["code"]) == (code, error)


def test_a_reader_who_leaves_a_listing_is_no_fault_to_tell_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaves(*_: object) -> int:
        raise ReaderGoneError

    monkeypatch.setattr("enfilade.cli.checkup.show", leaves)
    assert program.main(["doctor"]) == 1
