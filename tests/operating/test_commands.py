"""Installing, listing, switching and removing with the real command."""

import json

import pytest

from tests.operating.operator import Operator

TOLD = """
class Strategy:
    label = {"en_US": "Greeter", "de": "Grüßer"}
    description = "Greets whoever asks."

    def get_parameters(self):
        return [{"name": "query", "type": "string"}, {"name": "tone", "type": "string", "default": "warm"}]

    def invoke(self, *, params):
        yield f"hello, {params['tone']}ly"
"""


async def test_a_plugin_is_added_listed_asked_switched_off_and_on_and_removed(operator: Operator) -> None:
    wheel = operator.write("greeter", files={"greeter/strategy.py": TOLD})
    added = await operator.add(wheel)
    assert (added.code, added.text) == (0, "greeter 1.0.0 is installed, with the strategy greeter\n")
    for step in ("checking greeter-1.0.0", "finding what greeter needs", "making its environment", "opening greeter"):
        assert step in added.err

    table = (await operator.plugins("list")).text.splitlines()
    assert table[0].split() == ["NAME", "PLUGIN", "VERSION", "ISOLATION", "ABOUT", "ORIGIN"]
    assert any("Greets whoever asks." in line and str(operator.root) in line for line in table)
    assert 'tone  string, default "warm"' in (await operator.plugins("info", "greeter")).text
    assert (await operator.plugins("check", "Greeter")).text.startswith("greeter (greeter 1.0.0) fits the contract")
    assert (await operator.ask("greeter")).text == "hello, warmly\n"

    assert (await operator.plugins("disable", "greeter")).text == "greeter 1.0.0 is disabled\n"
    refused = await operator.ask("greeter")
    assert refused.code == 1
    assert "greeter 1.0.0, which offers it, is disabled: `enfilade plugins enable greeter`" in refused.err
    assert (await operator.listed())["greeter"]["state"] == "disabled"
    assert (await operator.plugins("check", "greeter")).code == 0  # a look does not need it enabled

    assert (await operator.plugins("enable", "greeter")).text == "greeter 1.0.0 is enabled\n"
    assert (await operator.ask("greeter")).code == 0
    assert (await operator.plugins("remove", "greeter")).text == "greeter 1.0.0 is removed\n"
    assert (operator.environments(), await operator.listed()) == (set(), {})
    assert (await operator.ask("greeter")).code == 1


async def test_programs_read_json_of_success_and_of_failure(operator: Operator) -> None:
    operator.write("greeter")
    added = await operator.add("greeter==1.0.0", "--json")
    entry = json.loads(added.out)
    assert (entry["plugin"], entry["version"], entry["enabled"]) == ("greeter", "1.0.0", True)
    assert (entry["strategies"], entry["spec"]) == (["greeter"], "greeter==1.0.0")
    assert {"enfilade-sdk", "greeter", "grpcio"} <= entry["packages"].keys()

    again = await operator.add("greeter", "--json")
    assert again.code == 1
    assert json.loads(again.out)["error"]["details"] == {"reason": "exists"}
    assert again.err.startswith("error: plugin 'greeter' is installed already, in version 1.0.0; update or remove it")

    assert json.loads((await operator.plugins("disable", "greeter", "--json")).out)["enabled"] is False
    missing = await operator.plugins("remove", "greter", "--json")
    assert (missing.code, json.loads(missing.out)["error"]["details"]["reason"]) == (1, "unknown")
    assert "did you mean 'greeter'?" in missing.err
    assert json.loads((await operator.plugins("remove", "greeter", "--json")).out)["plugin"] == "greeter"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "no such name!"), "expected NAME, NAME==VERSION, a wheel's path"),
        (("add", "./missing.whl"), "missing.whl"),
        (("add", "greeter", "--python", "/no/such/python"), "got '/no/such/python'"),
        (("update", "."), "expected a plugin's name, got '.'"),
        (("update", "greeter==1", "--from", "greeter==2"), "give one of them"),
        (("add",), "Missing argument"),
        (("add", "greeter", "--pyton", "3"), "No such option"),
    ],
)
async def test_what_cannot_be_meant_is_a_fault_of_the_command_line(
    operator: Operator, words: tuple[str, ...], said: str
) -> None:
    (operator.command.folder / "pyproject.toml").write_text("")
    done = await operator.plugins(*words)
    assert (done.code, done.out) == (2, b"")
    assert said in done.err
    assert "Traceback" not in done.err
    assert operator.environments() == set()


async def test_a_folder_is_built_only_when_that_is_allowed(operator: Operator) -> None:
    folder = operator.command.folder / "source"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "mine"\nversion = "1"\n')
    refused = await operator.add(folder)
    assert refused.code == 1
    assert "has to be built, which runs its code with your rights, and that was not allowed" in refused.err


async def test_an_update_takes_the_newest_a_named_version_or_a_file(operator: Operator) -> None:
    for version in ("1.0.0", "2.0.0"):
        operator.write("greeter", version, answer=repr(version))
    await operator.add("greeter==1.0.0")
    newest = await operator.update("greeter")
    assert newest.text == "greeter 1.0.0 is now 2.0.0, with the strategy greeter\n"
    back = await operator.update("greeter==1.0.0")
    assert back.text == "greeter 2.0.0 is now 1.0.0, with the strategy greeter\n"
    wheel = operator.write("greeter", "3.0.0", answer="'3.0.0'")
    assert (await operator.update(wheel)).text.startswith("greeter 1.0.0 is now 3.0.0")
    assert (await operator.update("greeter")).text.startswith("greeter 3.0.0 is installed anew")
    assert (await operator.ask("greeter")).text == "3.0.0\n"


async def test_the_doctor_looks_at_installed_plugins_and_at_a_list_that_cannot_be_read(operator: Operator) -> None:
    await operator.add(operator.write("greeter"))
    assert f"ok     installed plugins: 1 in {operator.root}" in (await operator.command("doctor")).text
    lock = operator.root / "plugins.lock"
    whole = lock.read_text()
    lock.write_text(whole[:-40])
    doctor = await operator.command("doctor")
    assert (doctor.code, "FAULT  installed plugins: " in doctor.text) == (1, True)

    listed = await operator.plugins("list", "--json")
    assert "function-calling" in [row["name"] for row in json.loads(listed.out)]
    assert listed.code == 1
    assert "plugins.lock is damaged" in listed.err
    asked = await operator.ask("greeter")
    assert asked.code == 1
    assert "installed plugins cannot be listed: " in asked.err
    assert (await operator.command("run", "What is 6 * 7?", "-t", "calculator")).code == 0
    lock.write_text(whole)


async def test_the_operators_own_settings_of_the_tool_count_beside_the_options(operator: Operator) -> None:
    operator.command.environment |= {"UV_FIND_LINKS": str(operator.parts), "UV_OFFLINE": "1"}
    operator.write("greeter")
    added = await operator.plugins("add", "greeter", "--find-links", str(operator.wheels))
    assert (added.code, added.text) == (0, "greeter 1.0.0 is installed, with the strategy greeter\n"), added.err


async def test_a_root_with_blanks_commas_and_umlauts_in_its_path_works(operator: Operator) -> None:
    operator.root = operator.root.with_name("my, plugins (ä)")
    operator.command.environment["ENFILADE_PLUGINS_DIR"] = str(operator.root)
    assert (await operator.add(operator.write("greeter"))).code == 0
    assert (await operator.ask("greeter")).text == "hello\n"
    assert (await operator.update("greeter")).code == 0
