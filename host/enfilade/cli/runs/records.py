"""Recorded runs for a command: their database, opened without a host, and how a failure is told."""

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import ValidationError

from enfilade.cli.exit_code import FAILED
from enfilade.cli.failure import tell
from enfilade.cli.screen import ReaderGoneError, Screen
from enfilade.cli.usage import CommandLineError
from enfilade.config import StoreSection, load_config
from enfilade.errors import ConfigError
from enfilade.settings.faults import faults_of
from enfilade.store.database import Database
from enfilade.store.errors import StoreError
from enfilade.store.leases import Lease
from enfilade.store.runs import RunFilter, list_runs
from enfilade.store.settings import StoreSettings
from enfilade.store.state import State
from enfilade_sdk.errors import EnfiladeError

Work = Callable[[Database, Screen], Awaitable[int]]
"""What a command does with the open database; gives the exit code."""


def with_records(work: Work, url: str | None, *, as_json: bool, empty: Callable[[Screen], int] | None = None) -> int:
    """Opens the records, does a command's work with them, and closes them; gives the exit code.

    Args:
        work: The work.
        url: Where they are; None is where the configuration says, or the user's data folder.
        as_json: Whether a failure is told as JSON too.
        empty: What a listing does where nothing was recorded yet; a place that was named with `url` has to be there.
    """
    screen = Screen.claim()
    try:
        settings = _settings(url)
        if empty is not None and url is None and settings.file is not None and not settings.file.exists():
            return empty(screen)
        return asyncio.run(_worked(work, settings, screen))
    except EnfiladeError as error:
        return tell(screen, error, as_json=as_json)
    except ReaderGoneError:
        return FAILED


async def _worked(work: Work, settings: StoreSettings, screen: Screen) -> int:
    database = await Database.open(settings, make=False)
    try:
        await _close_dead(database, settings)
        return await work(database, screen)
    finally:
        await database.aclose()


async def _close_dead(database: Database, settings: StoreSettings) -> None:
    """Closes the runs whose host died on this machine. Of another machine's hosts only another host can judge."""
    if not await list_runs(database, RunFilter(status=State.RUNNING), limit=1):
        return
    with contextlib.suppress(StoreError):  # what can only be read is shown as it stands
        await Lease(database, settings.model_copy(update={"dead_after": math.inf})).close_dead()


def _settings(url: str | None) -> StoreSettings:
    if url is not None:
        return _read({"url": url}, "--store", CommandLineError)
    section = load_config().store or StoreSection()
    if section.kind != "sql":
        raise ConfigError(
            f"[store] is of the kind {section.kind!r}, whose runs this command cannot read; "
            "look with that store's own tools, or give --store URL"
        )
    return _read(section.options, "[store]", ConfigError)


def _read(options: Mapping[str, Any], where: str, fault: type[EnfiladeError]) -> StoreSettings:
    try:
        return StoreSettings.model_validate(dict(options))
    except ValidationError as error:
        raise fault(faults_of(error, where, StoreSettings)) from None
