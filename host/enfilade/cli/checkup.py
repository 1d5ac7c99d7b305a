"""`enfilade doctor`: what works here and what does not."""

import asyncio
import logging
import os
import platform
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from importlib_metadata import distributions, metadata, requires

from enfilade.candidate import Candidate, plugin_key
from enfilade.cli.candidates import beside_the_host
from enfilade.cli.exit_code import DONE, FAILED
from enfilade.cli.json_line import json_text
from enfilade.cli.plugins.opening import open_plugins
from enfilade.cli.screen import Screen
from enfilade.config import Config, load_config
from enfilade.discovery.managed import managed_candidates
from enfilade.environments.entry import PluginEntry
from enfilade.environments.installed import InstalledPlugins
from enfilade.errors import near_matches
from enfilade.extensions.loading import Extensions
from enfilade.host import Host
from enfilade.isolation.directory import make_directory, remove_directory
from enfilade.isolation.sandbox.layers import layers
from enfilade.layers.layer import name_of
from enfilade.models.gateway import ModelGateway
from enfilade.settings.toml_file import config_file
from enfilade_sdk.errors import EnfiladeError

Verdict = Literal["ok", "note", "fault"]

_OLDEST_PYTHON = (3, 11)
_SHOWN = ("enfilade", "enfilade-sdk", "enfilade-wire", "grpcio", "protobuf", "pydantic", "openai", "click")
_PROBED = "function-calling"
_HOST = "enfilade"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. A `note` is worth knowing and no fault."""

    name: str
    verdict: Verdict
    text: str


def show(as_json: bool) -> int:
    """Looks at everything and prints what was found; gives 1 if there is a fault."""
    screen = Screen.claim()
    checks: list[Check] = []
    for check in _checks(screen):
        checks.append(check)
        if not as_json:
            screen.say(_line(check))
    fine = all(check.verdict != "fault" for check in checks)
    if as_json:
        screen.say(json_text({"ok": fine, "checks": [asdict(check) for check in checks]}, indent=2) + "\n")
    else:
        screen.say("all is well\n" if fine else "there are faults, see above\n")
    return DONE if fine else FAILED


def _line(check: Check) -> str:
    mark = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}[check.verdict]
    first, *more = check.text.splitlines() or [""]
    return "".join([f"{mark}  {check.name}: {first}\n", *(f"         {line}\n" for line in more)])


def _checks(screen: Screen) -> Iterator[Check]:
    yield _python()
    yield Check("platform", "ok", platform.platform())
    yield _versions()
    config, check = _configuration()
    yield check
    yield from _keys(config)
    extensions = _loaded_extensions()
    yield from _providers(config, extensions)
    yield _extensions(extensions)
    yield from _host(config, extensions)
    yield _directory()
    yield from _sandbox(config)
    candidates = beside_the_host(config)
    managed, check = _installed(config)
    yield check
    candidates += managed
    yield from _idle_settings(config, candidates)
    yield _strategies(candidates)
    bare = config.model_copy(update={"layers": (), "store": None, "telemetry": None})  # faults there are told already
    yield _guest(bare, candidates, screen)
    yield from _silent(bare, candidates, screen)
    yield _uv()
    yield from _extras()


def _python() -> Check:
    version = platform.python_version()
    if sys.version_info < _OLDEST_PYTHON:
        return Check("python", "fault", f"{version}; expected {'.'.join(map(str, _OLDEST_PYTHON))} or newer")
    return Check("python", "ok", f"{version} ({sys.executable})")


def _versions() -> Check:
    installed = {name: _version(name) for name in _SHOWN}
    missing = [name for name, version in installed.items() if version is None]
    text = ", ".join(f"{name} {version}" for name, version in installed.items() if version is not None)
    if missing:
        return Check("versions", "fault", f"{text}; not installed: {', '.join(missing)}")
    return Check("versions", "ok", text)


def _configuration() -> tuple[Config, Check]:
    file = config_file(os.environ)
    try:
        config = load_config()
    except EnfiladeError as error:
        return Config(), Check("configuration", "fault", error.message)
    if file is None:
        return config, Check("configuration", "ok", "no file, so the defaults (./enfilade.toml would be read)")
    return config, Check("configuration", "ok", str(file))


def _keys(config: Config) -> Iterator[Check]:
    if config.default_model != "demo" and config.default_model not in config.models:
        yield Check("default model", "fault", f"default_model is {config.default_model!r}, and there is no such model")
    for name, model in config.models.items():
        variables = [model.api_key_env, *model.headers_env.values()]
        unset = [variable for variable in variables if variable and not os.environ.get(variable)]
        if unset:
            yield Check(f"model {name}", "note", f"{' and '.join(unset)} not set in the environment")


def _loaded_extensions() -> Extensions:
    """Loads what packages add to the host; one that is broken is left out, and this is where that is told."""
    logging.getLogger("enfilade.extensions").setLevel(logging.ERROR)
    return Extensions.installed()


def _providers(config: Config, extensions: Extensions) -> Iterator[Check]:
    gateway = ModelGateway(config.models, config.default_model, extensions.offer.models)
    for name in config.models:
        try:
            gateway.info(name)
        except EnfiladeError as error:
            yield Check(f"model {name}", "fault", error.message)


def _extensions(extensions: Extensions) -> Check:
    if extensions.broken:
        return Check("extensions", "fault", "\n".join(map(str, extensions.broken)))
    return Check("extensions", "ok", ", ".join(extensions.loaded) or "none is installed")


def _host(config: Config, extensions: Extensions) -> Iterator[Check]:
    """What a host makes of the configuration when it starts, and whether its store opens."""
    try:
        host = Host(config, candidates=(), extensions=extensions)
    except EnfiladeError as error:
        yield Check("host", "fault", error.message)
        return
    yield Check("layers", "ok", ", ".join(map(name_of, host.layers)) or "none")
    if config.store is not None:
        yield asyncio.run(_store(host))


async def _store(host: Host) -> Check:
    try:
        await host.remembers()
    except EnfiladeError as error:
        return Check("store", "fault", error.message)
    finally:
        await host.aclose()
    return Check("store", "ok", "opened")


def _directory() -> Check:
    try:
        directory = make_directory()
    except EnfiladeError as error:
        return Check("private directories", "fault", error.message)
    remove_directory(directory)
    return Check("private directories", "ok", f"in {Path(directory).parent}")


def _sandbox(config: Config) -> Iterator[Check]:
    """The layers of sandboxes; a fault is a missing one that the configuration requires."""
    required = {"strict"} | ({"standard"} if config.sandbox_required else set())
    named = {config.sandbox, *(chosen.sandbox for chosen in config.plugins.values())}
    needed = {"standard", "strict"} & required & named
    for layer in layers():
        name = f"sandbox: {layer.name}"
        if not layer.missing:
            yield Check(name, "ok", layer.about)
        else:
            yield Check(
                name, "fault" if needed & layer.required_by else "note", f"{layer.missing}; without it: {layer.about}"
            )


def _installed(config: Config) -> tuple[list[Candidate], Check]:
    """The plugins with environments of their own, and whether each is what was installed."""
    name, installed = "installed plugins", InstalledPlugins()
    try:
        entries = installed.entries()
        candidates = managed_candidates(config.plugins, entries)
        for candidate in candidates:
            if candidate.own_environment is not None:
                candidate.own_environment.check()
    except EnfiladeError as error:
        return [], Check(name, "fault", error.message)
    off = len(entries) - len(candidates)
    disabled = f", {off} of them disabled" if off else ""
    return candidates, Check(name, "ok", f"{len(entries)} in {installed.root}{disabled}")


def _idle_settings(config: Config, candidates: Sequence[Candidate]) -> Iterator[Check]:
    """Names the settings of plugins that there are not: misspelt, or of one that is not installed any more."""
    plugins = {plugin_key(candidate.plugin) for candidate in candidates}
    plugins |= {plugin_key(entry.name) for entry in _entries()}
    by_strategy = {offer.name: candidate.plugin for candidate in candidates for offer in candidate.offers}
    for name, settings in config.plugins.items():
        if plugin_key(name) in plugins or not settings.enabled:
            continue
        near = near_matches(by_strategy.get(name, name), plugins)
        yield Check(f"plugin {name}", "note", f"there are settings and no such plugin, so they do nothing; {near}")


def _entries() -> Sequence[PluginEntry]:
    try:
        return InstalledPlugins().entries()
    except EnfiladeError:  # told already
        return ()


def _strategies(candidates: Sequence[Candidate]) -> Check:
    names = Counter(offer.name for candidate in candidates for offer in candidate.offers)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        return Check("strategies", "fault", f"offered by several plugins: {', '.join(twice)}; disable all but one")
    if not names:
        return Check("strategies", "fault", "none is installed; pip install enfilade-fc")
    return Check("strategies", "ok", ", ".join(sorted(names)))


def _guest(config: Config, candidates: Sequence[Candidate], screen: Screen) -> Check:
    """Starts a plugin's process, lets it describe itself, and ends it."""
    offering = [c for c in candidates if any(offer.name == _PROBED for offer in c.offers)][:1] or candidates[:1]
    if not offering:
        return Check("plugin processes", "note", "there is no plugin to try one with")
    began = time.monotonic()
    plugin = open_plugins(config, offering, screen, verbose=False, isolated=True)[0]
    seconds = time.monotonic() - began
    name = plugin.candidate.plugin
    if plugin.error is not None:
        return Check("plugin processes", "fault", plugin.error.message)
    return Check("plugin processes", "ok", f"{name} started, described itself and ended in {seconds:.2f} s")


def _silent(config: Config, candidates: Sequence[Candidate], screen: Screen) -> Iterator[Check]:
    """Asks those of which only they themselves can say what they offer."""
    silent = [candidate for candidate in candidates if not candidate.offers]
    logging.getLogger("enfilade.isolation").setLevel(logging.ERROR)  # one that is away is told of here
    for plugin in open_plugins(config, silent, screen, verbose=False) if silent else []:
        name = f"plugin {plugin.candidate.plugin}"
        if plugin.error is not None:
            yield Check(name, "fault", plugin.error.message)
        else:
            offered = ", ".join(sorted(description.name for description in plugin.descriptions))
            yield Check(name, "ok", f"{plugin.candidate.origin} offers {offered or 'no strategy'}")


def _uv() -> Check:
    found = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if found is None:
        return Check("uv", "note", "not found; it is only needed to install plugins into environments of their own")
    return Check("uv", "ok", found)


def _extras() -> Iterator[Check]:
    """The optional parts that this distribution declares, and whether their packages are there."""
    if _version(_HOST) is None:
        return
    for extra in metadata(_HOST).get_all("Provides-Extra") or []:
        missing = [name for name in _required_by(extra) if _version(name) is None]
        if missing:
            yield Check(f"extra [{extra}]", "note", f"not installed: {', '.join(missing)}")
        else:
            yield Check(f"extra [{extra}]", "ok", "installed")


def _required_by(extra: str) -> list[str]:
    marks = (f"extra == '{extra}'", f'extra == "{extra}"')
    return [_name_of(line) for line in requires(_HOST) or [] if any(mark in line for mark in marks)]


def _name_of(requirement: str) -> str:
    length = next((i for i, char in enumerate(requirement) if not (char.isalnum() or char in "-_.")), len(requirement))
    return requirement[:length]


def _version(name: str) -> str | None:
    return next((found.version for found in distributions(name=name)), None)
