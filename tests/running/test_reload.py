"""A plugin whose files change is started anew, and what runs ends where it began."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from enfilade.agent import AgentConfig
from enfilade.candidate import Candidate, Offer
from enfilade.config import Config
from enfilade.discovery.source_files import SourceFiles
from enfilade.host import Host
from enfilade.supervision import Supervision
from tests.support.enfilade_command import Enfilade, emptied
from tests.support.leftovers import nothing_left
from tests.support.states import BOUND

AGENT = AgentConfig(strategy="says")
CODE = """
import asyncio
from mine.words import WORD

class Says:
    def get_parameters(self):
        return [{{"name": "{parameter}", "type": "string", "default": "!"}}]

    async def invoke(self, *, params):
        yield WORD + params["{parameter}"]
        if params["{parameter}"] == "wait":
            await asyncio.Event().wait()
"""


class Package:
    """A package that its author changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._clock = 1_000_000_000
        self.write("__init__.py", "")
        self.say("one")

    def write(self, name: str, text: str) -> None:
        path = self.folder / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self._clock += 10  # a time of its own for each change, whatever the file system can tell apart
        os.utime(path, (self._clock, self._clock))

    def say(self, word: str, parameter: str = "mark") -> None:
        self.write("words.py", f"WORD = {word!r}\n")
        self.write("strategy.py", CODE.format(parameter=parameter))

    @property
    def candidate(self) -> Candidate:
        offers = (Offer("says", "mine.strategy:Says"),)
        care = Supervision(reload=True)
        return Candidate(plugin="mine", offers=offers, paths=(str(self.folder),), start_timeout=30, supervision=care)


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path / "author")


@pytest_asyncio.fixture
async def host(package: Package) -> AsyncIterator[Host]:
    async with nothing_left(), Host(Config(), candidates=[package.candidate]) as opened:
        yield opened


async def answer(host: Host, agent: AgentConfig = AGENT) -> str:
    outcome = await host.ask(agent, "x")
    assert outcome.error is None, outcome.error
    return outcome.answer


async def test_the_next_run_after_a_change_has_the_new_code_and_its_parameters(host: Host, package: Package) -> None:
    assert await answer(host) == "one!"
    package.say("two", parameter="sign")
    assert await answer(host, AGENT.model_copy(update={"parameters": {"sign": "?"}})) == "two?"


async def test_a_run_that_is_under_way_ends_on_the_code_it_began_on(host: Host, package: Package) -> None:
    run = host.run(AGENT.model_copy(update={"parameters": {"mark": "wait"}}), "x")
    assert (await anext(aiter(run))).to_json()["message"]["text"] == "onewait"
    package.say("two")
    assert await answer(host) == "two!"
    assert {status.state.value for status in host.catalog.statuses()} == {"ready", "draining"}
    await run.aclose()


async def test_the_new_process_is_started_without_being_asked(host: Host, package: Package) -> None:
    assert await answer(host) == "one!"
    package.say("two")
    async with asyncio.timeout(BOUND):
        while not host.catalog.swaps:  # noqa: ASYNC110 - it is the host's own clock that brings it about
            await asyncio.sleep(0.02)
    assert await answer(host) == "two!"


async def test_code_that_does_not_start_leaves_the_old_until_it_is_mended(
    host: Host, package: Package, caplog: pytest.LogCaptureFixture
) -> None:
    assert await answer(host) == "one!"
    package.write("words.py", "import os; os._exit(3)\n")
    assert await answer(host) == "one!"
    assert "plugin 'mine' does not start anew, so what ran goes on: " in caplog.text
    assert await answer(host) == "one!"
    assert caplog.text.count("does not start anew") == 1  # it is not tried again and again
    package.say("three")
    assert await answer(host) == "three!"


async def test_nothing_is_looked_at_where_nobody_asked_for_it(package: Package) -> None:
    still = replace(package.candidate, supervision=Supervision())
    async with Host(Config(), candidates=[still]) as host:
        assert await answer(host) == "one!"
        package.say("two")
        assert await answer(host) == "one!"


def test_what_is_looked_at_is_the_package_and_what_python_writes_is_not(package: Package) -> None:
    files = SourceFiles(package.candidate)
    before = files.look()
    assert {Path(path).name for path, _, _ in before} == {"__init__.py", "words.py", "strategy.py"}
    package.write("__pycache__/words.cpython-311.pyc", "")
    package.write("../beside.py", "")
    assert files.look() == before
    package.write("deep/data.txt", "")
    assert len(files.look() - before) == 1


def test_files_of_installed_packages_and_of_commands_are_found(tmp_path: Path) -> None:
    installed = SourceFiles(Candidate(plugin="fc", offers=(Offer("function-calling", "enfilade_fc.strategy:X"),)))
    assert any(path.endswith("enfilade_fc/__init__.py") for path, _, _ in installed.look())
    script = tmp_path / "serve"
    script.write_text("")
    assert len(SourceFiles(Candidate(plugin="c", command=("/usr/bin/env", str(script)))).look()) == 2
    assert SourceFiles(Candidate(plugin="n", offers=(Offer("n", "no_such_package.x:Y"),))).look() == frozenset()


async def test_run_reload_asks_again_after_each_change(tmp_path: Path) -> None:
    code = "class Says:\n    def get_parameters(self): return []\n    def invoke(self): yield 'one'\n"
    with emptied() as runtime:
        enfilade = Enfilade(tmp_path, runtime)
        enfilade.write("says.py", code)
        async with enfilade.running("run", "x", "-s", "says:Says", "--reload") as running:
            await running.until(lambda: b"one" in running.out)
            enfilade.write("says.py", "class Says: pass\n")
            await running.until(lambda: "method get_parameters()" in running.err)
            enfilade.write("says.py", code.replace("one", "third"))
            await running.until(lambda: b"third" in running.out)
            running.signal(signal.SIGINT)
            done = await running.finished()
        assert done.code == 130


async def test_reload_without_a_process_is_refused(tmp_path: Path) -> None:
    enfilade = Enfilade(tmp_path, tmp_path)
    done = await enfilade("run", "x", "--reload", "--isolation", "inprocess")
    assert done.code == 2
    assert "--reload needs a process to start anew; leave out --isolation inprocess" in done.err
