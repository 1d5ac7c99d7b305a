"""Finds the extensions of an environment, loads them, and leaves out those that are broken."""

import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import pluggy
from importlib_metadata import EntryPoint, entry_points

from enfilade import hookspecs
from enfilade.errors import near_matches
from enfilade.extensions import own
from enfilade.extensions.events import EVENTS, STATE, Listener, RunEvents
from enfilade.extensions.offer import HOOKS, Offer, OfferError, offer_of
from enfilade.hookspecs import PROJECT
from enfilade.isolation.supervision.states import StateChange

GROUP = "enfilade"
"""The entry-point group of host extensions."""

ONLY = "ENFILADE_LOAD_PLUGINS"
"""The variable that restricts them: names of entry points or distributions, with commas; empty loads none."""

PREFIX = "enfilade_"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Broken:
    """An extension that was left out.

    Attributes:
        name: The entry point's name.
        distribution: Whose it is, with its version.
        reason: What is wrong with it.
    """

    name: str
    distribution: str
    reason: str

    def __str__(self) -> str:
        return f"the extension {self.name!r} of {self.distribution} is left out: {self.reason}"


class Extensions:
    """What the host and its extensions bring, together.

    Args:
        points: The entry points to load, in order.

    Attributes:
        offer: The kinds, the host's own first.
        broken: What was left out, and why.
        loaded: The names of the extensions that are there.
    """

    def __init__(self, points: Iterable[EntryPoint] = ()) -> None:
        self.offer = Offer()
        self.broken: list[Broken] = []
        self.loaded: list[str] = []
        self._hooks = pluggy.PluginManager(PROJECT)
        self._hooks.add_hookspecs(hookspecs)
        self._add(PROJECT, own)
        for point in points:
            self._load(point)

    @classmethod
    def installed(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Those of this environment, as far as `ENFILADE_LOAD_PLUGINS` lets them.

        Args:
            environment: The variables; None is the process's own.
        """
        only = (os.environ if environment is None else environment).get(ONLY)
        return cls([] if only == "" else chosen(entry_points(group=GROUP), only))

    def run_events(self) -> RunEvents | None:
        """What tells extensions of runs; None when none of them listens."""
        listeners = [listener for hook in EVENTS for listener in self._listeners(hook)]
        return RunEvents(listeners) if listeners else None

    def plugin_state(self, change: StateChange) -> None:
        """Tells extensions that a plugin, or one of its processes, changed its state."""
        for listener in self._listeners(STATE):
            listener.tell(change=change)

    def _listeners(self, hook: str) -> list[Listener]:
        implemented = getattr(self._hooks.hook, hook).get_hookimpls()
        return [Listener(impl.plugin_name, hook, impl.argnames, impl.function) for impl in implemented]

    def _load(self, point: EntryPoint) -> None:
        try:
            found = point.load()
            if isinstance(found, type):
                raise OfferError(f"{point.value} is a class; name a module or an object")
            self._add(point.name, found)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
            self.broken.append(Broken(point.name, _distribution(point), _reason(error)))
            _log.warning("%s", self.broken[-1])
            _log.debug("the extension %r:", point.name, exc_info=error)
        else:
            self.loaded.append(point.name)

    def _add(self, name: str, plugin: object) -> None:
        if self._hooks.has_plugin(name):
            raise OfferError("there is an extension of this name already")
        self._check_marks(plugin)
        try:
            self._hooks.register(plugin, name)
            self.offer.add(offer_of(self._given(plugin)))
        except BaseException:
            if self._hooks.get_plugin(name) is plugin:
                self._hooks.unregister(plugin)
            raise

    def _check_marks(self, plugin: object) -> None:
        """Finds what pluggy would pass over without a word: a hook misspelt, a mark forgotten."""
        known = [name for name in dir(hookspecs) if name.startswith(PREFIX)]
        for name in dir(plugin):
            marked = self._hooks.parse_hookimpl_opts(plugin, name) is not None
            if marked and name not in known:
                raise OfferError(f"there is no hook {name!r}; {near_matches(name, known)}")
            if not marked and name in known:
                raise OfferError(f"{name} is not marked: put enfilade.hookspecs.hookimpl before it")

    def _given(self, plugin: object) -> dict[str, Any]:
        given = {}
        for hook in HOOKS:
            impls = getattr(self._hooks.hook, PREFIX + hook).get_hookimpls()
            for impl in (impl for impl in impls if impl.plugin is plugin):
                if impl.hookwrapper or impl.wrapper:
                    raise OfferError(f"{PREFIX}{hook}: a wrapper has nothing to wrap here; return what you bring")
                given[hook] = impl.function()
        return given


def command_target(name: str) -> str | None:
    """Where the command of that name is that an installed extension brings; None when none does."""
    return Extensions.installed().offer.commands.get(name)


def chosen(points: Iterable[EntryPoint], only: str | None) -> list[EntryPoint]:
    """The entry points to load, in order of their names.

    Args:
        points: All there are.
        only: What `ENFILADE_LOAD_PLUGINS` says; None is no restriction.
    """
    ordered = sorted(points, key=lambda point: (point.name, point.value))
    if only is None:
        return ordered
    wanted = {_plain(name) for name in only.split(",") if name.strip()}
    there = {name for point in ordered for name in _names(point)}
    for name in sorted(wanted - there):
        _log.warning("%s names %r, and there is no such extension; %s", ONLY, name, near_matches(name, there))
    return [point for point in ordered if wanted & _names(point)]


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.metadata['Name']} {point.dist.version}" if point.dist else "an unknown distribution"


def _names(point: EntryPoint) -> set[str]:
    return {_plain(point.name)} | ({_plain(point.dist.metadata["Name"])} if point.dist else set())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _reason(error: BaseException) -> str:
    if isinstance(error, OfferError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
