from pathlib import Path
from textwrap import indent

import pytest

from enfilade.extensions.loading import Extensions, chosen
from tests.extensions.packages import package, points

GOOD = """
from enfilade.hookspecs import hookimpl

@hookimpl
def enfilade_commands():
    return {"good": "good:command"}
"""


def hook(name: str, body: str, arguments: str = "") -> str:
    """A module with one hook."""
    return f"from enfilade.hookspecs import hookimpl\n\n@hookimpl\ndef {name}({arguments}):\n{indent(body, '    ')}\n"


BROKEN = {
    "import": ("import nonesuch_at_all", "ModuleNotFoundError: No module named 'nonesuch_at_all'"),
    "raises": ("raise ValueError('no licence')", "ValueError: no licence"),
    "silent": ("raise ValueError", "ValueError"),
    "exits": ("import sys\nsys.exit(3)", "SystemExit: 3"),
    "misspelt": (hook("enfilade_tool", "return []"), "there is no hook 'enfilade_tool'; did you mean 'enfilade_tools'"),
    "unmarked": (
        "def enfilade_tools():\n    return []",
        "enfilade_tools is not marked: put enfilade.hookspecs.hookimpl before it",
    ),
    "arguments": (hook("enfilade_run_began", "pass", "run"), "Argument(s) {'run'} are declared in the hookimpl but"),
    "hook raises": (hook("enfilade_layers", "raise KeyError('x')"), "KeyError: 'x'"),
    "no list": (
        hook("enfilade_layers", "return {'a': 1}"),
        "enfilade_layers: expected a list of LayerKind, got a dict",
    ),
    "no kind": (hook("enfilade_layers", "return ['a']"), "enfilade_layers: expected a LayerKind, got a str"),
    "no mapping": (
        hook("enfilade_models", "return [1]"),
        "enfilade_models: expected a mapping from names to what makes",
    ),
    "no target": (
        hook("enfilade_commands", "return {'a': 'b'}"),
        "enfilade_commands: expected a mapping from names to",
    ),
    "taken": (
        hook("enfilade_commands", "return {'run': 'a:b', 'mine': 'a:b'}"),
        "enfilade_commands: run is there already; choose another name",
    ),
    "twice": (
        "from enfilade.hookspecs import LauncherKind\n"
        + hook("enfilade_launchers", "kind = LauncherKind('a', '', list)\nreturn [kind, kind]"),
        "enfilade_launchers: 'a' is given twice",
    ),
    "wrapper": (
        hook("enfilade_tools", "return (yield)").replace("@hookimpl", "@hookimpl(wrapper=True)"),
        "enfilade_tools: a wrapper has nothing to wrap here",
    ),
}


@pytest.mark.parametrize("code", [code for code, _ in BROKEN.values()], ids=list(BROKEN))
def test_a_broken_extension_is_named_and_left_out_and_the_others_stay(
    code: str, site: Path, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    reason = next(reason for known, reason in BROKEN.values() if known == code)
    package(site, code, name="bad-extension", point="bad")
    package(site, GOOD, name="good-extension", point="good")
    extensions = Extensions(points(site))
    [broken] = extensions.broken
    assert (broken.name, broken.distribution) == ("bad", "bad-extension 1.2")
    assert broken.reason.startswith(reason) or reason in broken.reason
    assert extensions.loaded == ["good"]
    assert extensions.offer.commands["good"] == "good:command"
    assert "mine" not in extensions.offer.commands
    assert f"the extension 'bad' of bad-extension 1.2 is left out: {broken.reason}" in caplog.text


def test_nothing_of_a_broken_extension_is_kept(site: Path) -> None:
    code = hook("enfilade_commands", "return {'mine': 'a:b'}") + hook("enfilade_layers", "raise KeyError('x')")
    package(site, code + hook("enfilade_run_began", "pass"))
    extensions = Extensions(points(site))
    assert len(extensions.broken) == 1
    assert "mine" not in extensions.offer.commands
    assert extensions.run_events() is None


def test_a_class_is_no_extension_and_an_object_is(site: Path) -> None:
    code = """
    from enfilade.hookspecs import hookimpl

    class Mine:
        @hookimpl
        def enfilade_commands(self):
            return {"mine": "a:b"}

    mine = Mine()
    """
    package(site, code, name="one", point="class", target=":Mine")
    package(site, code, name="two", point="object", target=":mine")
    extensions = Extensions(chosen(points(site), None))
    assert [broken.reason.partition(" is ")[2] for broken in extensions.broken] == [
        "a class; name a module or an object"
    ]
    assert extensions.offer.commands["mine"] == "a:b"


def test_two_extensions_of_one_name_are_told_apart_by_who_came_first(site: Path) -> None:
    package(site, GOOD, name="one", point="same")
    package(site, hook("enfilade_commands", "return {'other': 'a:b'}"), name="two", point="same")
    extensions = Extensions(points(site))
    [broken] = extensions.broken
    assert broken.reason == "there is an extension of this name already"
    assert len(extensions.offer.commands.keys() & {"good", "other"}) == 1


def test_a_module_may_hold_more_than_hooks(site: Path) -> None:
    package(site, "import enfilade_sdk\nenfilade_note = 7\ndef enfilade_aid(): return 1\n" + GOOD)
    assert Extensions(points(site)).broken == []


@pytest.mark.parametrize(
    ("only", "names"),
    [
        (None, ["first", "second", "third"]),
        ("second", ["second"]),
        (" second , first ", ["first", "second"]),
        ("Dist_Three", ["third"]),
        (",", []),
    ],
)
def test_the_environment_restricts_what_is_loaded(only: str | None, names: list[str], site: Path) -> None:
    for number, name in (("one", "first"), ("two", "second"), ("three", "third")):
        package(site, "", name=f"dist-{number}", point=name)
    assert [point.name for point in chosen(points(site), only)] == names


def test_a_name_that_there_is_not_is_warned_of(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    package(site, "", name="dist-one", point="first")
    assert chosen(points(site), "frist") == []
    assert "ENFILADE_LOAD_PLUGINS names 'frist', and there is no such extension; did you mean 'first'" in caplog.text


def test_an_empty_variable_loads_none_and_looks_for_none(site: Path) -> None:
    package(site, "raise ValueError('imported')")
    extensions = Extensions.installed({"ENFILADE_LOAD_PLUGINS": ""})
    assert (extensions.broken, extensions.loaded) == ([], [])
    assert [broken.name for broken in Extensions.installed({}).broken] == ["mine"]
