import sys
from pathlib import Path

import pytest

from enfilade.config import LayerSettings, PluginSettings, StoreSection
from enfilade.extensions.commands import COMMANDS
from enfilade.extensions.loading import Extensions
from enfilade.layers.builtin import BUILTIN as LAYERS
from enfilade.models.providers import PROVIDERS
from enfilade.models.settings import ModelSettings
from enfilade.tools.builtins.kinds import BUILTIN as TOOLS
from tests.extensions.packages import package, points
from tests.layers.scenario import hosted, told
from tests.support.model_turns import text_turn


def loaded(folder: Path) -> Extensions:
    """The extensions in a folder, none of them broken."""
    extensions = Extensions(points(folder))
    assert extensions.broken == []
    return extensions


def test_what_the_host_brings_comes_through_the_same_hooks() -> None:
    offer = Extensions().offer
    assert offer.models == PROVIDERS
    assert offer.tools.keys() >= {tool.name for tool in TOOLS}
    assert list(offer.layers) == [layer.name for layer in LAYERS]
    assert list(offer.stores) == ["sql"]
    assert list(offer.launchers) == ["process", "inprocess"]
    assert offer.commands == COMMANDS


async def test_an_extension_brings_a_kind_of_models(site: Path) -> None:
    code = """
    from enfilade.hookspecs import hookimpl
    from enfilade_sdk.prompts import AssistantMessage, ModelChunk, ModelResult

    class Parrot:
        def info(self, model):
            return model.info()

        def warm(self, model):
            pass

        async def stream(self, model, request):
            said = request.messages[-1].content
            yield ModelChunk(said)
            yield ModelResult(AssistantMessage(content=said))

        async def aclose(self):
            pass

    @hookimpl
    def enfilade_models():
        return {"parrot": Parrot}
    """
    package(site, code)
    models = {"m": ModelSettings(name="scripted", provider="parrot")}
    async with hosted([], extensions=loaded(site), config={"models": models}) as host:
        assert (await host.ask(told("ask"), "?")).answer == "Well?"


async def test_an_extension_brings_a_kind_of_tools(site: Path) -> None:
    code = '''
    from enfilade.hookspecs import hookimpl
    from enfilade.tools.registry import SourceKind
    from enfilade.tools.source import ValueSource

    def source(argument, setting):
        def greet(name: str) -> str:
            """Greets."""
            return f"{argument}, {name}!"

        return ValueSource(greet, "greet", setting.threads)

    @hookimpl
    def enfilade_tools():
        return [SourceKind("greet", source, "greets somebody", "WORD", origin="my-extension")]
    '''
    package(site, code)
    async with hosted([], extensions=loaded(site)) as host:
        outcome = await host.ask(told(["greet", {"name": "Ada"}], tools=["greet:Hello"]), "?")
    assert outcome.answer == "Hello, Ada!" * 2


async def test_an_extension_brings_a_kind_of_layers(site: Path) -> None:
    code = """
    from pydantic import ConfigDict
    from pydantic.dataclasses import dataclass
    from enfilade.hookspecs import hookimpl
    from enfilade.layers.kind import LayerKind, configured
    from enfilade.layers.layer import Layer
    from enfilade_sdk.messages import text_message

    @dataclass(config=ConfigDict(extra="forbid"), kw_only=True, eq=False)
    class Sign(Layer):
        text: str = "-- the host"
        name = "sign"

        async def run(self, context, call_next):
            async for message in call_next():
                yield message
            yield text_message(self.text)

    @hookimpl
    def enfilade_layers():
        return [LayerKind("sign", "signs answers", lambda options, supplies: configured(Sign, options))]
    """
    package(site, code)
    layers = (LayerSettings.model_validate({"kind": "sign", "text": " -- me"}),)
    async with hosted(None, extensions=loaded(site), config={"layers": layers}) as host:
        assert (await host.ask(told({"say": "Yes."}), "?")).answer == "Yes. -- me"


async def test_an_extension_brings_a_kind_of_stores(site: Path) -> None:
    code = '''
    from enfilade.hookspecs import StoreKind, hookimpl

    LINES = []

    class Paper:
        """Records, values and the store itself in one."""

        def __init__(self, title):
            self.records = self.values = self
            self.title = title

        async def run_began(self, start):
            LINES.append(f"{self.title}: {start.question}")
            return self

        async def event(self, message):
            LINES.append(message.message.text)

        async def settled(self):
            pass

        def ended(self, status, *, answer="", error=None):
            LINES.append(status.value)

        async def use(self, plugin, conversation, request):
            return "kept"

        async def aclose(self):
            LINES.append("closed")

    def prepare(options):
        async def open_store():
            return Paper(options["title"])
        return open_store

    @hookimpl
    def enfilade_stores():
        return [StoreKind("paper", "a sheet of paper", prepare)]
    '''
    module = package(site, code)
    config = {
        "layers": (LayerSettings(kind="recording"),),
        "store": StoreSection.model_validate({"kind": "paper", "title": "Log"}),
    }
    async with hosted(None, extensions=loaded(site), config=config) as host:
        await host.ask(told({"say": "x"}), "Well?")
    assert sys.modules[module].LINES == ["Log: Well?", "x", "succeeded", "closed"]


async def test_an_extension_brings_a_launcher(site: Path) -> None:
    code = """
    from enfilade.hookspecs import LauncherKind, hookimpl
    from enfilade.inprocess import InProcess

    NOTES = []

    class Elsewhere:
        def guest(self, candidate):
            NOTES.append(f"guest for {candidate.plugin}")
            return InProcess(candidate)

        async def close(self):
            NOTES.append("closed")

    @hookimpl
    def enfilade_launchers():
        return [LauncherKind("elsewhere", "runs plugins somewhere else", Elsewhere)]
    """
    module = package(site, code)
    config = {"plugins": {"trial": PluginSettings(launcher="elsewhere")}}
    async with hosted([], [text_turn("a")], isolation="process", extensions=loaded(site), config=config) as host:
        assert (await host.ask(told("ask"), "?")).answer == "a"
    assert sys.modules[module].NOTES == ["guest for trial", "closed"]


async def test_a_launcher_that_there_is_not_is_named_with_those_there_are() -> None:
    config = {"plugins": {"trial": PluginSettings(launcher="elsewhere")}}
    async with hosted([], config=config) as host:
        outcome = await host.ask(told({"say": "x"}), "?")
    assert outcome.error is not None
    assert outcome.error.message.startswith("[plugins.trial] launcher: there is no launcher 'elsewhere'; ")
    assert "process" in outcome.error.message


async def test_an_extension_is_told_of_runs(site: Path) -> None:
    code = """
    from enfilade.hookspecs import hookimpl

    NOTES = []

    @hookimpl
    def enfilade_run_began(context):
        NOTES.append(f"{context.strategy} began for {context.user}")

    @hookimpl
    def enfilade_run_ended(outcome):
        NOTES.append(f"{outcome.status.value}: {outcome.answer}")
    """
    module = package(site, code)
    async with hosted([], extensions=loaded(site)) as host:
        await host.ask(told({"say": "x"}), "?")
        await host.ask(told("ask"), "?")
    assert sys.modules[module].NOTES == [
        "on-loop began for user",
        "succeeded: x",
        "on-loop began for user",
        "failed: ",
    ]


async def test_an_extension_that_fails_at_an_event_is_named_and_the_run_goes_on(
    site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    code = """
    from enfilade.hookspecs import hookimpl

    @hookimpl
    def enfilade_run_began():
        raise RuntimeError("not now")

    @hookimpl
    def enfilade_run_ended():
        raise RuntimeError("not now")
    """
    package(site, code)
    async with hosted([], extensions=loaded(site)) as host:
        assert (await host.ask(told({"say": "x"}), "?")).answer == "x"
    assert "the extension mine failed in enfilade_run_began" in caplog.text
    assert "the extension mine failed in enfilade_run_ended" in caplog.text


async def test_without_listeners_nothing_stands_around_a_run() -> None:
    async with hosted([]) as host:
        assert host.layers == ()


async def test_an_extension_hears_of_the_states_of_plugins(site: Path) -> None:
    code = """
    from enfilade.hookspecs import hookimpl

    NOTES = []

    @hookimpl
    def enfilade_plugin_state(change):
        NOTES.append((change.plugin, change.before.value, change.state.value, change.pid))
        raise RuntimeError("which costs nothing")
    """
    module = package(site, code)
    async with hosted([], extensions=loaded(site), isolation="process") as host:
        assert (await host.ask(told({"say": "x"}), "?")).answer == "x"
    notes = sys.modules[module].NOTES
    assert [note[:3] for note in notes] == [
        ("trial", "installed", "starting"),
        ("trial", "starting", "ready"),
        ("trial", "ready", "stopped"),
    ]
    assert notes[1][3] == notes[2][3] > 0
