import json

import pytest

from tests.support.enfilade_command import Enfilade

GOOD = """
class Tidy:
    label = {"en_US": "Tidy", "de": "Ordentlich"}
    description = "Answers tidily."
    features = ["history"]

    def get_parameters(self):
        return [
            {"name": "query", "type": "string", "required": True},
            {"name": "depth", "type": "number", "default": 2, "min": 1, "max": 5, "precision": 0, "help": "How deep."},
            {"name": "style", "type": "select", "options": ["brief", "long"]},
        ]

    def invoke(self, *, params):
        yield "tidy"
"""
BAD = """
class Bad:
    description = 5

    def get_parameters(self):
        return [{"name": "a b", "type": "nonsense"}]

    def invoke(self, *, question):
        yield question
"""


async def test_the_list_says_where_each_strategy_comes_from_and_starts_nothing(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", '[plugins.far]\naddress = "unix:/nowhere/at/all.sock"\n')
    done = await enfilade("plugins", "list", "--json")
    assert done.code == 0
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert set(rows["function-calling"]) >= {"name", "plugin", "version", "origin", "isolation", "state", "about"}
    assert rows["function-calling"]["plugin"] == "enfilade-fc"
    assert rows["function-calling"]["isolation"] == "process"
    assert "enfilade-fc" in rows["function-calling"]["origin"]
    assert rows[None]["plugin"] == "far"
    assert rows[None]["isolation"] == "remote"
    table = (await enfilade("plugins", "list")).text.splitlines()
    assert table[0].split()[:3] == ["NAME", "PLUGIN", "VERSION"]
    assert any(line.startswith("function-calling ") for line in table)
    assert any(line.startswith("(the plugin says)  far ") for line in table)


async def test_a_disabled_plugin_is_not_listed(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", "[plugins.enfilade-fc]\nenabled = false\n")
    done = await enfilade("plugins", "list", "--json")
    assert "function-calling" not in [row["name"] for row in json.loads(done.out)]


async def test_a_name_that_two_plugins_offer_is_pointed_out(enfilade: Enfilade) -> None:
    folder = enfilade.folder / "site" / "rival-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[enfilade.strategies]\nfunction-calling = rival:Rival\n")
    enfilade.environment["PYTHONPATH"] = str(enfilade.folder / "site")
    done = await enfilade("plugins", "list")
    assert "warning: function-calling is offered by" in done.err
    assert "rival" in done.err
    run = await enfilade("run", "q", "-s", "function-calling")
    assert run.code == 1
    assert "is offered by" in run.err
    assert "rival 1.0" in run.err
    assert "enfilade-fc" in run.err


@pytest.mark.parametrize("name", ["function-calling", "enfilade-fc"])
async def test_info_shows_what_a_strategy_takes(enfilade: Enfilade, name: str) -> None:
    done = await enfilade("plugins", "info", name)
    assert done.code == 0
    lines = done.text.splitlines()
    assert lines[0] == "function-calling"
    assert "  query  string, required" in lines
    assert "  max_iteration  number, default 10, at least 0, at most 99, whole" in lines
    assert '  last_round  select, default "withdraw", one of withdraw, forbid' in lines


async def test_info_gives_programs_the_json_schema(enfilade: Enfilade) -> None:
    enfilade.write("tidy.py", GOOD)
    done = await enfilade("plugins", "info", "tidy:Tidy", "--json")
    info = json.loads(done.out)
    assert info["name"] == "tidy:Tidy"
    assert info["label"]["de"] == "Ordentlich"
    assert info["features"] == ["history"]
    assert [parameter["name"] for parameter in info["parameters"]] == ["query", "depth", "style"]
    assert info["schema"]["required"] == ["query"]
    assert info["schema"]["properties"]["depth"]["maximum"] == 5


async def test_a_class_of_the_current_folder_that_fits_is_told_so(enfilade: Enfilade) -> None:
    enfilade.write("tidy.py", GOOD)
    for name in ("tidy:Tidy", "tidy.py:Tidy"):
        done = await enfilade("plugins", "check", name)
        assert (done.code, done.text) == (0, f"{name} fits the contract; parameters: query, depth, style\n")
        assert done.err == ""


async def test_check_lists_all_faults_at_once(enfilade: Enfilade) -> None:
    enfilade.write("bad.py", BAD)
    done = await enfilade("plugins", "check", "bad:Bad")
    assert done.code == 1
    assert done.text.startswith("bad:Bad does not fit the contract, 4 faults:\n")
    assert "'a b'" in done.text
    assert "'question'" in done.text
    assert "description to be str or dict" in done.text
    form = json.loads((await enfilade("plugins", "check", "bad:Bad", "--json")).out)
    assert form[0]["fits"] is False
    assert len(form[0]["strategies"][0]["faults"]) == 4


async def test_check_opens_in_a_process_of_its_own_whatever_the_configuration_says(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", 'isolation = "inprocess"\n')
    enfilade.write("leaver.py", "import os\nos._exit(7)\n")
    done = await enfilade("plugins", "check", "leaver:X")
    assert done.code == 1
    assert "exit code 7" in done.text


async def test_check_takes_installed_names_too(enfilade: Enfilade) -> None:
    done = await enfilade("plugins", "check", "function-calling")
    assert done.code == 0
    assert done.text.startswith("function-calling (enfilade-fc ")


@pytest.mark.parametrize("verb", ["info", "check"])
async def test_a_name_that_nothing_has_is_told_with_what_is_near(enfilade: Enfilade, verb: str) -> None:
    done = await enfilade("plugins", verb, "function-caling")
    assert done.code == 1
    assert "did you mean 'function-calling'?" in done.err
    assert done.out == b""


async def test_a_class_that_cannot_be_meant_is_a_fault_of_the_command_line(enfilade: Enfilade) -> None:
    done = await enfilade("plugins", "check", "missing.py:X")
    assert done.code == 2
    assert "error: there is no file missing.py; expected FILE.py:Class or module:Class" in done.err


async def test_info_of_a_strategy_with_faults_tells_them(enfilade: Enfilade) -> None:
    enfilade.write("bad.py", BAD)
    done = await enfilade("plugins", "info", "bad:Bad")
    assert done.code == 1
    assert "does not fit the contract" in done.err
    assert done.out == b""


async def test_a_module_of_the_folder_shadows_nothing_of_the_host(enfilade: Enfilade) -> None:
    enfilade.write("tidy.py", GOOD)
    enfilade.write("asyncio.py", "raise RuntimeError('shadow')\n")
    enfilade.program = (enfilade.program[0], "-P", "-m", "enfilade")
    done = await enfilade("plugins", "check", "tidy:Tidy")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("restart", "function-calling"), "'function-calling' is a strategy of the plugin 'enfilade-fc'"),
        (("disable", "enfilade_fc"), "'enfilade-fc' has no environment of its own: it is beside the host, where pip"),
    ],
)
async def test_a_name_that_is_no_installed_plugin_s_is_told_what_it_is(
    enfilade: Enfilade, words: tuple[str, ...], says: str
) -> None:
    done = await enfilade("plugins", *words)
    assert done.code == 1
    assert says in done.err
