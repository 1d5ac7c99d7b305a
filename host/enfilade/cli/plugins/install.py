"""`enfilade plugins add` and `update`."""

from collections.abc import Callable, Coroutine
from functools import partial
from importlib import import_module
from typing import Any

from enfilade.cli.exit_code import DONE, USAGE
from enfilade.cli.lazy import call
from enfilade.cli.logs import show_logs
from enfilade.cli.loop_thread import LoopThread
from enfilade.cli.plugins.entry import entry_json, strategies_text
from enfilade.cli.plugins.install_options import InstallOptions
from enfilade.cli.plugins.install_progress import InstallProgress
from enfilade.cli.plugins.later_opener import LaterOpener
from enfilade.cli.screen import YELLOW, Screen
from enfilade.cli.signals import Interrupted, Signals
from enfilade.cli.usage import CommandLineError
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import SpecError
from enfilade.environments.order import Opener, Progress
from enfilade.environments.sources import Sources
from enfilade.environments.spec import parse_spec
from enfilade.environments.store import PluginStore
from enfilade_sdk.errors import EnfiladeError

_Work = Callable[[PluginStore, Opener, Progress], Coroutine[Any, Any, tuple[PluginEntry, str]]]
"""What is to be done; gives the plugin and what to tell of it."""

_CLEAN_UP_SECONDS = 15.0
"""How long an interrupted installation may take to end its plugin and to remove thousands of files."""


def add(spec: str, options: InstallOptions) -> int:
    """Installs a plugin and tells which strategies it brings; gives the exit code."""

    async def work(store: PluginStore, opener: Opener, progress: Progress) -> tuple[PluginEntry, str]:
        entry = await store.add(spec, opener, python=options.python, allow_build=options.allow_build, progress=progress)
        return entry, f"{entry.name} {entry.version} is installed"

    return _done(work, options)


def update(name: str, source: str | None, options: InstallOptions) -> int:
    """Installs a plugin anew and tells from which version to which; gives the exit code."""

    async def work(store: PluginStore, opener: Opener, progress: Progress) -> tuple[PluginEntry, str]:
        plugin, spec = _wanted(name, source)
        try:
            old = store.entry(plugin).version
        except EnfiladeError as error:
            told: EnfiladeError = import_module("enfilade.cli.plugins.name").explained(error, plugin)  # reads settings
            raise told from None
        entry = await store.update(
            plugin, opener, spec=spec, python=options.python, allow_build=options.allow_build, progress=progress
        )
        change = "is installed anew" if old == entry.version else f"is now {entry.version}"
        return entry, f"{entry.name} {old} {change}"

    return _done(work, options)


def _wanted(name: str, source: str | None) -> tuple[str, str | None]:
    """The plugin, and what to install for it; None is what was asked for when it was added.

    Raises:
        SpecError: Neither a name nor something that can be installed.
        CommandLineError: What to install is given twice, or without the plugin's name.
    """
    asked = parse_spec(name)
    if asked.kind == "source":
        raise CommandLineError(f"expected a plugin's name, got {name!r}; name it, and give the path with --from")
    bare = asked.kind == "name" and not any(sign in asked.requirement for sign in "<>=!~")
    if not bare and source is not None:
        raise CommandLineError(f"{name!r} says what to install, and so does --from {source!r}; give one of them")
    return asked.name, source if bare else asked.text


def _done(work: _Work, options: InstallOptions) -> int:
    screen = Screen.claim()
    show_logs(screen, verbose=options.verbose)
    store = PluginStore(sources=Sources(options.find_links, no_index=options.no_index))
    before = store.revision()
    opener = LaterOpener()

    def last_word() -> None:
        screen.note("interrupted; what is half made is removed by the next command that installs")

    try:
        job = opener.along_with(partial(work, store), InstallProgress(screen, verbose=options.verbose))
        with Signals() as signals, LoopThread() as loop:
            entry, told = loop.finish(job, signals, last_word, stop_seconds=_CLEAN_UP_SECONDS)
    except Interrupted:
        if store.revision() == before:
            screen.note("interrupted; nothing was changed")
        raise
    except EnfiladeError as error:
        code = call("enfilade.cli.failure:tell", screen, error, as_json=options.as_json)
        return USAGE if isinstance(error, SpecError) else code
    screen.say(entry_json(entry) if options.as_json else f"{told}, with the {strategies_text(entry)}\n")
    for warning in opener.rivals(entry) if entry.enabled else ():
        screen.error(f"warning: {warning}", YELLOW)
    return DONE
