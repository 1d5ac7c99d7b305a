"""What a process asks of the hosts that run."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enfilade.candidate import plugin_key
from enfilade.running.folder import HostFolder, living_hosts

ANSWER_SECONDS = 60.0
"""Seconds that a host has to start a plugin anew; more than a start may take where nothing else is said."""

LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host answered.

    Attributes:
        host: Its process.
        results: What came of it, by version; see `enfilade.catalog.lineup.Restarted`.
        error: Why there is no result; empty when there is one.
    """

    host: int
    results: tuple[dict[str, Any], ...] = ()
    error: str = ""


def restart(root: Path, plugin: str, wanted: Callable[[dict[str, Any]], bool] = lambda _: True) -> list[Answer]:
    """Asks every host that has a plugin to start it anew, and waits for what comes of it.

    Args:
        root: Where hosts show themselves.
        plugin: The plugin's name.
        wanted: Which of the plugins of that name count, by what their host shows of them.
    """
    asked = []
    for folder in living_hosts(root):
        if any(wanted(shown) for shown in shown_plugins(folder, plugin)):
            try:
                asked.append((folder, folder.ask({"what": "restart", "plugin": plugin})))
            except OSError:  # it has ended meanwhile
                continue
    return [_answer(folder, number) for folder, number in asked]


def shown_plugins(folder: HostFolder, plugin: str | None = None) -> Iterator[dict[str, Any]]:
    """What a host shows of its plugins, or of the one of that name."""
    for shown in folder.status().get("plugins", ()):
        if plugin is None or plugin_key(str(shown.get("plugin"))) == plugin_key(plugin):
            yield shown


def _answer(folder: HostFolder, number: str) -> Answer:
    deadline = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < deadline:
        if (answer := folder.answered(number)) is not None:
            return Answer(folder.pid, tuple(answer.get("results", ())), str(answer.get("error", "")))
        if not folder.alive:
            return Answer(folder.pid, error="the host ended")
        time.sleep(LOOK_SECONDS)
    return Answer(folder.pid, error=f"the host did not answer within {ANSWER_SECONDS:g} s")
