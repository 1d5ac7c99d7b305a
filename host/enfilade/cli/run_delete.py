"""`enfilade runs delete`."""

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.run_records import with_records
from enfilade.cli.screen import Screen
from enfilade.store.database import Database
from enfilade.store.runs import delete_run


def delete(run_id: str, with_usage: bool, store: str | None, as_json: bool) -> int:
    """Deletes a run's records."""

    async def deleted(database: Database, screen: Screen) -> int:
        found = await delete_run(database, run_id, with_usage=with_usage)
        screen.say(json_text({"deleted": found}, indent=2) + "\n" if as_json else f"the run {found} is deleted\n")
        return DONE

    return with_records(deleted, store, as_json=as_json)
