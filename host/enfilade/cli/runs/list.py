"""`enfilade runs list`."""

from collections.abc import Mapping, Sequence

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.listing import table
from enfilade.cli.runs.records import with_records
from enfilade.cli.screen import Screen
from enfilade.cli.visible import in_one_line
from enfilade.store.database import Database
from enfilade.store.runs import RunFilter, list_runs
from enfilade.store.shown import RunSummary
from enfilade.store.state import State

_COLUMNS = ("id", "began", "status", "seconds", "strategy", "model", "conversation", "question")
_ID_CHARACTERS = 12
_QUESTION_WIDTH = 48


def show(wanted: Mapping[str, str | None], limit: int, store: str | None, as_json: bool) -> int:
    """Prints the newest runs."""
    which = RunFilter(
        status=None if (status := wanted["status"]) is None else State(status),
        strategy=wanted["strategy"],
        user_id=wanted["user"],
        conversation_id=wanted["conversation"],
    )

    def said(runs: Sequence[RunSummary], screen: Screen) -> int:
        if as_json:
            screen.say(json_text([run.to_json() for run in runs], indent=2) + "\n")
        elif runs:
            screen.say(_text(runs))
        else:
            screen.error("no such run is recorded" if which != RunFilter() else "no run is recorded yet")
        return DONE

    async def listed(database: Database, screen: Screen) -> int:
        return said(await list_runs(database, which, limit=limit), screen)

    return with_records(listed, store, as_json=as_json, empty=lambda screen: said([], screen))


def _text(runs: Sequence[RunSummary]) -> str:
    return table(_COLUMNS, [_row(run) for run in runs])


def _row(run: RunSummary) -> dict[str, str | None]:
    return {
        "id": run.id[:_ID_CHARACTERS],
        "began": f"{run.began_at.astimezone():%Y-%m-%d %H:%M:%S}",
        "status": run.status.value,
        "seconds": None if run.seconds is None else f"{run.seconds:.2f}",
        "strategy": run.strategy,
        "model": run.model,
        "conversation": run.conversation_id,
        "question": in_one_line(run.question, _QUESTION_WIDTH),
    }
