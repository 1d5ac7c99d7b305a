"""Two plugins with modules of the same name do not meet, and no plugin changes what the host imports."""

import json
import sys
from pathlib import Path

import pytest

from enfilade.candidate import Candidate, Offer
from enfilade.isolation.launcher import Launcher
from tests.support.faulty_guest import started
from tests.support.trial_run import texts

MAIN = """
{imports}
class Who:
    def get_parameters(self):
        return []
    def invoke(self):
        yield {value}
"""
FILES = {
    "alpha": {"helper.py": "WHO = 'alpha'", "main.py": MAIN.format(imports="from helper import WHO", value="WHO")},
    "beta": {
        "helper.py": "WHO = 'beta'\nEXTRA = '!'",
        "main.py": MAIN.format(imports="from helper import WHO, EXTRA", value="WHO + EXTRA"),
    },
}


def plugin(name: str, folder: Path, files: dict[str, str]) -> Candidate:
    folder.mkdir()
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    return Candidate(plugin=name, offers=(Offer("who", "main:Who"),), paths=(str(folder),), start_timeout=20)


@pytest.mark.parametrize("order", [("alpha", "beta"), ("beta", "alpha")])
async def test_plugins_with_modules_of_one_name_do_not_meet(
    launcher: Launcher, tmp_path: Path, order: tuple[str, str]
) -> None:
    candidates = {name: plugin(name, tmp_path / name, FILES[name]) for name in order}
    before = set(sys.modules)
    async with (
        started(launcher, candidates[order[0]]) as first,
        started(launcher, candidates[order[1]]) as second,
    ):
        got = {order[0]: await texts(first, "who"), order[1]: await texts(second, "who")}
    assert got == {"alpha": ["alpha"], "beta": ["beta!"]}
    assert not {"main", "helper"} & (set(sys.modules) - before)


async def test_a_plugin_that_shadows_the_standard_library_works_or_fails_alone(
    launcher: Launcher, tmp_path: Path
) -> None:
    shadow = {"json.py": "SHADOW = 'own json'", "main.py": MAIN.format(imports="import json", value="json.SHADOW")}
    gamma = plugin("gamma", tmp_path / "gamma", shadow)
    alpha = plugin("alpha", tmp_path / "alpha", FILES["alpha"])
    async with started(launcher, gamma) as bad, started(launcher, alpha) as good:
        (described,) = await bad.describe()
        assert described.faults == [] or "SHADOW" in str(described.faults) or await texts(bad, "who") == ["own json"]
        assert await texts(good, "who") == ["alpha"]
    assert json.loads("[1]") == [1]
