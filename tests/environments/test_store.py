import asyncio
import json
from pathlib import Path

import pytest

from enfilade.candidate import Candidate
from enfilade.environments.drift import check_drift
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.order import Step
from enfilade.environments.sdk import Sdk
from enfilade.environments.store import PluginStore
from enfilade_sdk.contract import Fault, StrategyDescription
from tests.environments.conftest import offline_sources
from tests.environments.openers import import_opener
from tests.environments.wheels import write_plugin, write_wheel


def left(store: PluginStore) -> list[str]:
    """What is in the folder of environments."""
    folder = store.root / "environments"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def refused(store: PluginStore, spec: str | Path) -> InstallError:
    with pytest.raises(InstallError) as caught:
        await store.add(str(spec), import_opener)
    return caught.value


async def test_an_added_plugin_is_recorded_with_everything_that_was_installed(
    store: PluginStore, wheelhouse: Path
) -> None:
    write_plugin(wheelhouse, "greeter", "1.2.0", requires=["greetings==3"])
    write_wheel(wheelhouse, "greetings", "3", {"greetings.py": "WORD = 'hello'"})
    steps: list[Step] = []

    entry = await store.add("greeter", import_opener, progress=steps.append)

    assert store.entries() == [entry]
    assert (entry.name, entry.version, entry.spec, entry.enabled) == ("greeter", "1.2.0", "greeter", True)
    assert [(p.name, p.version, p.files) for p in entry.packages] == [
        ("enfilade-sdk", "0.1.0", ("enfilade_sdk-0.1.0-py3-none-any.whl",)),
        ("greeter", "1.2.0", ("greeter-1.2.0-py3-none-any.whl",)),
        ("greetings", "3", ("greetings-3-py3-none-any.whl",)),
    ]
    assert all(len(digest) == 64 for package in entry.packages for digest in package.hashes)
    assert [offer.name for offer in entry.offers] == ["greeter"]
    assert entry.descriptions == ({"name": "greeter"},)
    assert left(store) == [entry.folder.name]
    names = list(dict.fromkeys(step.name for step in steps))
    assert names == ["python", "create", "resolve", "check", "install", "compile", "open", "record"]
    assert any("greetings==3" in step.text for step in steps)
    check_drift(store.entry("greeter"))


async def test_nothing_of_an_installation_is_kept_but_the_environment(store: PluginStore, wheelhouse: Path) -> None:
    entry = await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)
    assert sorted(path.name for path in entry.folder.iterdir()) == ["files.json", "hold", "stamps.json", "venv"]


async def test_names_are_found_however_they_are_written(store: PluginStore, wheelhouse: Path) -> None:
    write_plugin(wheelhouse, "Big-Greeter")
    await store.add("big_greeter", import_opener)
    assert store.entry("BIG.greeter").name == "Big-Greeter"
    with pytest.raises(InstallError, match="there is no installed plugin 'big-greter'; did you mean 'big-greeter'"):
        store.entry("big-greter")


async def test_a_plugin_whose_dependency_is_missing_is_not_installed_and_a_corrected_one_is(
    store: PluginStore, wheelhouse: Path, tmp_path: Path
) -> None:
    broken = write_plugin(tmp_path, "needs-missing", requires=["no-such-package-zzz==9.9.9"])

    error = await refused(store, broken)

    assert error.reason is Reason.INSTALLER_FAILED
    assert "uv could not find what needs-missing needs (exit code 1)" in error.message
    assert "no-such-package-zzz" in error.message.partition("Its last lines:")[2]
    assert store.entries() == []
    assert left(store) == []
    write_plugin(tmp_path, "needs-missing")
    assert (await store.add(str(broken), import_opener)).version == "1.0.0"


async def test_two_plugins_may_need_versions_that_exclude_each_other(store: PluginStore, wheelhouse: Path) -> None:
    for version in ("1.0", "2.0"):
        write_wheel(wheelhouse, "shared", version, {"shared.py": f"VERSION = '{version}'"})
    using = "__import__('shared').VERSION"
    write_plugin(wheelhouse, "old-one", answer=using, requires=["shared<2"])
    write_plugin(wheelhouse, "new-one", answer=using, requires=["shared>=2"])

    old, new = [await store.add(name, import_opener) for name in ("old-one", "new-one")]

    versions = [{p.name: p.version for p in entry.packages}["shared"] for entry in (old, new)]
    assert versions == ["1.0", "2.0"]


async def test_an_installed_plugin_is_not_added_again(store: PluginStore, wheelhouse: Path) -> None:
    wheel = write_plugin(wheelhouse, "greeter")
    await store.add("greeter", import_opener)
    for spec in ("greeter==2", wheel):
        error = await refused(store, spec)
        assert error.reason is Reason.EXISTS
        assert error.message == "plugin 'greeter' is installed already, in version 1.0.0; update or remove it"


async def test_one_of_two_that_add_the_same_plugin_at_once_wins(store: PluginStore, wheelhouse: Path) -> None:
    wheel = str(write_plugin(wheelhouse, "greeter"))
    results = await asyncio.gather(
        store.add(wheel, import_opener), store.add(wheel, import_opener), return_exceptions=True
    )
    assert sorted(type(result).__name__ for result in results) == ["InstallError", "PluginEntry"]
    assert left(store) == [store.entry("greeter").folder.name]


async def test_a_package_without_strategies_is_no_plugin(store: PluginStore, wheelhouse: Path) -> None:
    write_plugin(wheelhouse, "greeter")
    error = await refused(store, write_wheel(wheelhouse, "bundle", requires=["greeter"]))
    assert error.reason is Reason.NOT_A_PLUGIN
    assert "expected an entry point in the group 'enfilade.strategies', found none" in error.message
    assert "greeter, which it needs, has: add that" in error.message
    assert left(store) == []


@pytest.mark.parametrize(
    ("offers", "found"),
    [({"--path": "greeter.strategy:Strategy"}, "--path"), ({"greeter": "greeter.strategy"}, "greeter.strategy")],
)
async def test_an_entry_point_that_could_be_misread_is_refused(
    store: PluginStore, wheelhouse: Path, offers: dict[str, str], found: str
) -> None:
    error = await refused(store, write_plugin(wheelhouse, "greeter", offers=offers))
    assert error.reason is Reason.NOT_A_PLUGIN
    assert repr(found) in error.message


async def test_a_plugin_that_cannot_be_opened_is_not_installed(store: PluginStore, wheelhouse: Path) -> None:
    wheel = write_plugin(wheelhouse, "greeter", files={"greeter/strategy.py": "raise ValueError('no luck')"})
    error = await refused(store, wheel)
    assert error.reason is Reason.NOT_OPENED
    assert "greeter 1.0.0 could be installed but not opened, so nothing was changed" in error.message
    assert "ValueError: no luck" in error.message
    assert (store.entries(), left(store)) == ([], [])


async def test_a_plugin_that_does_not_fit_the_contract_is_not_installed(store: PluginStore, wheelhouse: Path) -> None:
    async def opener(candidate: Candidate) -> list[StrategyDescription]:
        fault = Fault(expected="a method invoke(*, params, ...)", found="none", remedy="add one")
        return [StrategyDescription(name=candidate.offers[0].name, faults=[fault])]

    with pytest.raises(InstallError, match="expected a method invoke") as caught:
        await store.add(str(write_plugin(wheelhouse, "greeter")), opener)
    assert caught.value.details["cause"]["faults"][0]["found"] == "none"
    assert left(store) == []


async def test_a_plugin_that_offers_something_else_than_it_says_is_not_installed(
    store: PluginStore, wheelhouse: Path
) -> None:
    async def opener(candidate: Candidate) -> list[StrategyDescription]:
        return [StrategyDescription(name="other")]

    with pytest.raises(InstallError, match="was expected to offer greeter, as its entry points say, and offers other"):
        await store.add(str(write_plugin(wheelhouse, "greeter")), opener)


async def test_a_plugin_that_changes_its_environment_when_opened_is_not_installed(
    store: PluginStore, wheelhouse: Path
) -> None:
    writing = "import pathlib\npathlib.Path(__file__).with_name('extra.py').write_text('x = 1')\n"
    wheel = write_plugin(wheelhouse, "greeter", files={"greeter/__init__.py": writing})
    error = await refused(store, wheel)
    assert error.reason is Reason.NOT_OPENED
    assert "greeter/extra.py was added" in error.message
    assert left(store) == []


async def test_an_unexpected_failure_of_the_caller_leaves_no_trace(store: PluginStore, wheelhouse: Path) -> None:
    async def opener(candidate: Candidate) -> list[StrategyDescription]:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        await store.add(str(write_plugin(wheelhouse, "greeter")), opener)
    assert (store.entries(), left(store)) == ([], [])


@pytest.mark.parametrize("text", ["making its environment", " + greeter==1.0.0"])
async def test_a_listener_that_fails_ends_the_installation_and_leaves_no_trace(
    store: PluginStore, wheelhouse: Path, text: str
) -> None:
    def progress(step: Step) -> None:
        if text in step.text:
            raise BrokenPipeError("nobody reads")

    write_plugin(wheelhouse, "greeter")
    with pytest.raises(BrokenPipeError, match="nobody reads"):
        await store.add("greeter", import_opener, progress=progress)
    assert (store.entries(), left(store)) == ([], [])


async def test_a_removed_plugin_leaves_nothing(store: PluginStore, wheelhouse: Path) -> None:
    await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)
    assert store.remove("greeter").name == "greeter"
    assert (store.entries(), left(store)) == ([], [])
    with pytest.raises(InstallError, match="there is no installed plugin 'greeter'; there are none"):
        store.remove("greeter")


async def test_a_disabled_plugin_stays_disabled_until_it_is_enabled(store: PluginStore, wheelhouse: Path) -> None:
    write_plugin(wheelhouse, "greeter")
    await store.add("greeter", import_opener)
    assert store.disable("greeter").enabled is False
    assert (await store.update("greeter", import_opener)).enabled is False
    assert store.entry("greeter").enabled is False
    assert store.enable("greeter") == store.entry("greeter")


async def test_a_host_sees_that_something_changed(store: PluginStore, wheelhouse: Path) -> None:
    seen = {store.revision()}
    await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)
    seen.add(store.revision())
    store.disable("greeter")
    seen.add(store.revision())
    assert len(seen) == 3
    assert store.revision() in seen


async def test_the_lock_file_has_no_address_of_a_source(store: PluginStore, wheelhouse: Path) -> None:
    write_plugin(wheelhouse, "greeter")
    await store.add("greeter", import_opener)
    text = (store.root / "plugins.lock").read_text()
    assert json.loads(text)["format"] == 1
    assert "://" not in text
    assert str(wheelhouse) not in text


async def test_a_wheel_of_another_version_of_the_sdk_does_not_displace_the_hosts_own(
    store: PluginStore, wheelhouse: Path
) -> None:
    write_wheel(wheelhouse, "enfilade-sdk", "0.1.0", {"enfilade_sdk/__init__.py": "raise SystemExit"})
    write_wheel(wheelhouse, "enfilade-sdk", "9.0", {"enfilade_sdk/__init__.py": "raise SystemExit"})
    entry = await store.add(str(write_plugin(wheelhouse, "greeter")), import_opener)
    [installed] = entry.venv.glob("lib/python*/site-packages/enfilade_sdk/__init__.py")
    assert installed.read_text() == ""


async def test_a_plugin_for_a_newer_sdk_is_refused_and_told_why(store: PluginStore, wheelhouse: Path) -> None:
    error = await refused(store, write_plugin(wheelhouse, "greeter", requires=["enfilade-sdk>=2"]))
    assert error.reason is Reason.INSTALLER_FAILED
    assert "enfilade-sdk>=2" in error.message


async def test_a_root_with_spaces_and_letters_of_any_kind_works(
    tmp_path: Path, wheelhouse: Path, tiny_sdk: Sdk
) -> None:
    store = PluginStore(tmp_path / "Größe 'ü' %20 #x", offline_sources(wheelhouse), sdk=tiny_sdk)
    wheel = write_plugin(tmp_path / "a b é", "greeter", files={"greeter/naïve.py": "x = 1"})
    entry = await store.add(str(wheel), import_opener)
    check_drift(store.entry("greeter"))
    assert len(list(entry.venv.rglob("greeter/__pycache__/*.pyc"))) == 3


async def test_a_damaged_lock_file_stops_an_installation_before_it_begins_and_keeps_what_is_there(
    store: PluginStore, wheelhouse: Path
) -> None:
    wheel = str(write_plugin(wheelhouse, "greeter"))
    entry = await store.add(wheel, import_opener)
    (store.root / "plugins.lock").write_text("{")
    for attempt in (store.add(wheel, import_opener), store.update("greeter", import_opener)):
        with pytest.raises(InstallError, match=r"plugins.lock is damaged"):
            await attempt
    with pytest.raises(InstallError, match=r"plugins.lock is damaged"):
        store.sweep()
    assert left(store) == [entry.folder.name]
