"""`enfilade runs delete`."""

from datetime import UTC, datetime

from enfilade.cli.exit_code import DONE
from enfilade.cli.failure import tell
from enfilade.cli.json_line import json_text
from enfilade.cli.moment import moment
from enfilade.cli.runs.records import with_records
from enfilade.cli.screen import Screen
from enfilade.cli.usage import CommandLineError
from enfilade.store.database import Database
from enfilade.store.runs import RunFilter, delete_run, delete_runs


def delete(run_id: str | None, before: str | None, with_usage: bool, store: str | None, as_json: bool) -> int:
    """Deletes a run's records, or those of all runs that have ended and began before a time."""
    try:
        if (run_id is None) == (before is None):
            raise CommandLineError("give ID, the run to delete, or --before, to delete all older ones, and not both")
        if run_id is not None:
            return _one(run_id, with_usage, store, as_json)
        return _older(moment(str(before), datetime.now(UTC), "--before"), with_usage, store, as_json)
    except CommandLineError as error:
        return tell(Screen.claim(), error, as_json=as_json)


def _one(run_id: str, with_usage: bool, store: str | None, as_json: bool) -> int:
    async def deleted(database: Database, screen: Screen) -> int:
        found = await delete_run(database, run_id, with_usage=with_usage)
        screen.say(json_text({"deleted": found}, indent=2) + "\n" if as_json else f"the run {found} is deleted\n")
        return DONE

    return with_records(deleted, store, as_json=as_json)


def _older(time: datetime, with_usage: bool, store: str | None, as_json: bool) -> int:
    def said(number: int, screen: Screen) -> int:
        runs = f"{number} run{'' if number == 1 else 's'}"
        text = f"{runs} that began before {time.astimezone():%Y-%m-%d %H:%M:%S} deleted\n"
        screen.say(json_text({"deleted_runs": number}, indent=2) + "\n" if as_json else text)
        return DONE

    async def deleted(database: Database, screen: Screen) -> int:
        return said(await delete_runs(database, RunFilter(before=time), with_usage=with_usage), screen)

    return with_records(deleted, store, as_json=as_json, empty=lambda screen: said(0, screen))
