"""`enfilade approvals approve` and `deny`."""

import json
from typing import Any

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.runs.records import with_records
from enfilade.cli.screen import Screen
from enfilade.cli.usage import CommandLineError
from enfilade.store.approvals import decide_petition
from enfilade.store.database import Database


def approve(petition_id: str, arguments: str | None, store: str | None, as_json: bool) -> int:
    """Allows a call."""

    async def approved(database: Database, screen: Screen) -> int:
        changed = None if arguments is None else _object(arguments)
        found = await decide_petition(database, petition_id, allowed=True, arguments=changed)
        with_others = "" if changed is None else " with other arguments"
        text = f"the call of {found.tool} is allowed{with_others}; the run goes on\n"
        screen.say(json_text(found.to_json(), indent=2) + "\n" if as_json else text)
        return DONE

    return with_records(approved, store, as_json=as_json)


def deny(petition_id: str, reason: str, store: str | None, as_json: bool) -> int:
    """Refuses a call."""

    async def denied(database: Database, screen: Screen) -> int:
        found = await decide_petition(database, petition_id, allowed=False, reason=reason)
        text = f"the call of {found.tool} is refused; the model is told so\n"
        screen.say(json_text(found.to_json(), indent=2) + "\n" if as_json else text)
        return DONE

    return with_records(denied, store, as_json=as_json)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CommandLineError(f"--arguments: expected a JSON object, got text that is no JSON ({error})") from None
    if not isinstance(value, dict):
        raise CommandLineError(f"--arguments: expected a JSON object, got {text}")
    return value
