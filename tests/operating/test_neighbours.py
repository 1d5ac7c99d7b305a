"""Plugins beside each other: modules of one name, versions that exclude each other, the same plugin in two places."""

import asyncio
from pathlib import Path

import pytest

from tests.environments.wheels import write_wheel
from tests.operating.operator import Operator, version_of

NAMESAKES = {
    "alpha": ("__import__('helper').WHO", {"helper.py": "WHO = 'alpha'"}),
    "beta": ("__import__('helper').WHO + __import__('helper').EXTRA", {"helper.py": "WHO = 'beta'\nEXTRA = '!'"}),
    "gamma": ("__import__('json').SHADOW", {"json.py": "SHADOW = 'gamma own json'"}),
}


@pytest.mark.timeout(180)
async def test_modules_of_one_name_do_not_meet_in_whatever_order(operator: Operator) -> None:
    for name, (answer, files) in NAMESAKES.items():
        assert (await operator.add(operator.write(name, answer=answer, files=files))).code == 0
    for order in (["alpha", "beta", "gamma"], ["gamma", "beta", "alpha"]):
        said = dict(zip(order, await asyncio.gather(*(operator.ask(name) for name in order)), strict=True))
        assert (version_of(said["alpha"]), version_of(said["beta"])) == ("alpha", "beta!")
        assert said["gamma"].code == 1  # the standard library's json has no SHADOW: it fails alone
        assert "SHADOW" in said["gamma"].err
    assert (await operator.command("run", "What is 6 * 7?", "-t", "calculator")).code == 0


@pytest.mark.timeout(180)
async def test_versions_that_exclude_each_other_run_beside_each_other(operator: Operator) -> None:
    for version in ("1.0", "2.0"):
        write_wheel(operator.wheels, "shared-part", version, {"shared_part.py": f"VERSION = '{version}'"})
    for name, needs in {"old-one": "shared-part<2", "new-one": "shared-part>=2"}.items():
        answer = "__import__('shared_part').VERSION"
        assert (await operator.add(operator.write(name, answer=answer, requires=[needs]))).code == 0
    assert version_of(await operator.ask("old-one")) == "1.0"
    assert version_of(await operator.ask("new-one")) == "2.0"


def beside_the_host(operator: Operator, name: str) -> None:
    """A plugin of that name in the host's own environment, by its metadata."""
    site = Path(operator.command.folder) / "site"
    folder = site / f"{name}-9.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n")
    (folder / "entry_points.txt").write_text(f"[enfilade.strategies]\n{name} = {name}:Strategy\n")
    operator.command.environment["PYTHONPATH"] = str(site)


async def test_a_plugin_in_both_places_is_refused_until_one_is_left_out(operator: Operator) -> None:
    added = await operator.add(operator.write("greeter"))
    assert (added.code, "warning" in added.err) == (0, False)
    assert (await operator.ask("greeter")).code == 0
    beside_the_host(operator, "greeter")
    again = await operator.update("greeter")
    assert again.code == 0
    assert "offers greeter too; disable one of the two" in again.err
    refused = await operator.ask("greeter")
    assert refused.code == 1
    assert "the strategy 'greeter' is offered by greeter 9.0 (" in refused.err
    assert f"and greeter 1.0.0 ({operator.root}" in refused.err
    assert "leave one of them out: `pip uninstall greeter` or `enfilade plugins disable greeter`" in refused.err
    listed = await operator.plugins("list")
    assert "warning: greeter is offered by greeter 9.0 and greeter 1.0.0; disable all but one" in listed.err

    assert (await operator.plugins("disable", "greeter")).code == 0
    assert "warning" not in (await operator.plugins("list")).err
    assert "offered by" not in (await operator.ask("greeter")).err
    del operator.command.environment["PYTHONPATH"]
    assert (await operator.plugins("enable", "greeter")).code == 0
    assert (await operator.ask("greeter")).code == 0


async def test_a_setting_that_an_environment_of_its_own_forbids_is_told(operator: Operator) -> None:
    assert (await operator.add(operator.write("greeter"))).code == 0
    operator.command.write("enfilade.toml", "[plugins.Greeter]\nisolation = 'inprocess'\n")
    refused = await operator.ask("greeter")
    assert refused.code == 1
    assert "[plugins.greeter] isolation: expected 'process', got 'inprocess'" in refused.err
    operator.command.write("enfilade.toml", "[plugins.Greeter]\nenabled = false\n")
    assert "is disabled in the configuration" in (await operator.ask("greeter")).err
    assert (await operator.listed())["greeter"]["state"] == "disabled"
    operator.command.write("enfilade.toml", "[plugins.Greeter]\nenvironment = { TONE = 'warm' }\n")
    assert (await operator.ask("greeter")).code == 0
