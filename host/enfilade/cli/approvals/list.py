"""`enfilade approvals list`."""

from collections.abc import Sequence

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.listing import table
from enfilade.cli.runs.records import with_records
from enfilade.cli.screen import Screen
from enfilade.cli.visible import in_one_line
from enfilade.store.approvals import PetitionShown, list_petitions
from enfilade.store.database import Database

_COLUMNS = ("id", "asked", "until", "status", "user", "run", "tool", "arguments")
_ID_CHARACTERS = 12
_ARGUMENTS_WIDTH = 80


def show(closed: bool, limit: int, store: str | None, as_json: bool) -> int:
    """Prints the petitions."""

    def said(found: Sequence[PetitionShown], screen: Screen) -> int:
        if as_json:
            screen.say(json_text([petition.to_json() for petition in found], indent=2) + "\n")
        elif found:
            screen.say(_text(found))
        else:
            screen.error("no petition is closed yet" if closed else "no call waits for a word")
        return DONE

    async def listed(database: Database, screen: Screen) -> int:
        return said(await list_petitions(database, closed=closed, limit=limit), screen)

    return with_records(listed, store, as_json=as_json, empty=lambda screen: said([], screen))


def _text(petitions: Sequence[PetitionShown]) -> str:
    return table(_COLUMNS, [_row(petition) for petition in petitions])


def _row(petition: PetitionShown) -> dict[str, str | None]:
    arguments = petition.arguments
    return {
        "id": petition.id[:_ID_CHARACTERS],
        "asked": f"{petition.asked_at.astimezone():%H:%M:%S}",
        "until": f"{petition.expires_at.astimezone():%H:%M:%S}",
        "status": petition.status.value,
        "user": petition.user_id,
        "run": petition.run_id[:_ID_CHARACTERS],
        "tool": petition.tool,
        "arguments": in_one_line(arguments if isinstance(arguments, str) else json_text(arguments), _ARGUMENTS_WIDTH),
    }
