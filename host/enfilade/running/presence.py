"""A host's presence to other processes: it shows how its plugins stand, keeps their logs, and does what it is asked."""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from enfilade.isolation.supervision.states import PluginStatus, State, StateChange, Supervised
from enfilade.running.folder import HostFolder, living_hosts
from enfilade.running.logbook import Logbook
from enfilade.running.places import hosts_folder, logs_folder
from enfilade.settings.data_folder import DATA_VARIABLE

LOOK_SECONDS = 0.5
"""How often a host looks for requests, and whether the numbers of runs have changed."""

FORM = 1
"""The form of status.json."""

_LEVELS = {
    State.UNRESPONSIVE: logging.WARNING,
    State.UNREACHABLE: logging.WARNING,
    State.CRASHED: logging.ERROR,
    State.DISABLED: logging.ERROR,
}
_log = logging.getLogger(__name__)

Restart = Callable[[str], Awaitable[dict[str, Any]]]
"""Starts a plugin anew; gives what came of it."""


class Presence:
    """Shows itself with the first change of a state, so that a host that starts no process writes nothing.

    Args:
        statuses: How the plugins stand.
        restart: Starts a plugin anew.
        hosts: Where hosts show themselves; None is the data folder.
        logs: Where plugins' logs are; None is the data folder.
    """

    def __init__(
        self,
        statuses: Callable[[], list[PluginStatus]],
        restart: Restart,
        hosts: Path | None = None,
        logs: Path | None = None,
    ) -> None:
        self._statuses = statuses
        self._restart = restart
        self._hosts = hosts
        self._logs = logs
        self._logbook: Logbook | None = None
        self._began = time.time()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._errands: set[asyncio.Task[None]] = set()
        self._shown: list[PluginStatus] | None = None

    def attend(self, care: Supervised) -> None:
        """Follows what a plugin's processes do and print."""
        care.report_to(self._heard)
        if self._logbook is None:
            self._logbook = Logbook(self._logs or logs_folder())
        care.log_to(self._logbook.write)

    async def close(self) -> None:
        """Shows nothing any more."""
        tasks = [task for task in (self._task, *self._errands) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._task = None
        if self._logbook is not None:
            self._logbook.close()

    def _heard(self, change: StateChange) -> None:
        first = change.reason.partition("\n")[0].removesuffix("; its last lines:")  # these stand in the log already
        reason = f": {first}" if first else ""
        level = _LEVELS.get(change.state, logging.INFO)
        if self._logbook is not None:
            self._logbook.write(change.plugin, level, change.pid, f"[{change.state.value}]{reason}")
        self._news.set()
        if self._task is None:
            self._task = asyncio.ensure_future(self._live())

    async def _live(self) -> None:
        try:
            folder = self._move_in()
        except OSError as error:
            _log.warning(
                "other processes cannot see this host's plugins: cannot use %s: %s; name another data folder with %s",
                *(self._hosts or hosts_folder(), error.strerror or error, DATA_VARIABLE),
            )
            return
        try:
            while True:
                self._show(folder)
                for number, request in folder.requests():
                    errand = asyncio.ensure_future(self._serve(folder, number, request))
                    self._errands.add(errand)
                    errand.add_done_callback(self._errands.discard)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._news.wait()
        finally:
            folder.close()

    def _move_in(self) -> HostFolder:
        root = self._hosts or hosts_folder()
        living_hosts(root)  # sweeps
        return HostFolder.make(root)

    def _show(self, folder: HostFolder) -> None:
        self._news.clear()
        statuses = self._statuses()
        if statuses == self._shown:
            return
        form = {"form": FORM, "pid": os.getpid(), "started": self._began, "written": time.time()}
        try:
            folder.write_status(form | {"plugins": [asdict(status) for status in statuses]})
            self._shown = statuses
        except OSError as error:
            _log.debug("the state of plugins cannot be shown: %s", error)

    async def _serve(self, folder: HostFolder, number: str, request: dict[str, Any]) -> None:
        plugin = request.get("plugin")
        if request.get("what") == "restart" and isinstance(plugin, str):
            answer = await self._restart(plugin)
        else:
            answer = {"error": "this host does not know such a request; use the enfilade command of its version"}
        with contextlib.suppress(OSError):
            folder.answer(number, answer)
