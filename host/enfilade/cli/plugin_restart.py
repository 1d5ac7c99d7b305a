"""`enfilade plugins restart`: the hosts that run start a plugin anew."""

from dataclasses import asdict
from typing import Any

from enfilade.cli.exit_code import DONE, FAILED
from enfilade.cli.failure import tell
from enfilade.cli.json_line import json_text
from enfilade.cli.screen import Screen
from enfilade.errors import LaunchError
from enfilade.running.asking import Answer, restart
from enfilade.running.places import hosts_folder
from enfilade_sdk.errors import InvalidParamsError

_TOLD = {
    "restarted": "was started anew",
    "not_running": "is not running; its next run starts it",
    "elsewhere": "has no process of this host",
}


def show(name: str, as_json: bool) -> int:
    """Asks every host that has the plugin; gives 1 when none has it or one could not."""
    screen = Screen.claim()
    answers = restart(hosts_folder(), name)
    if not answers:
        text = f"no host that runs has started a plugin {name!r}; see `enfilade plugins status`"
        return tell(screen, InvalidParamsError(text), as_json=as_json)
    if as_json:
        screen.say(json_text([asdict(answer) for answer in answers], indent=2) + "\n")
    fine = True
    for answer in answers:
        for good, line in _lines(answer, name):
            fine = fine and good
            if not good:
                tell(screen, LaunchError(line))  # as JSON it stands in the answer
            elif not as_json:
                screen.say(f"{line}\n")
    return DONE if fine else FAILED


def _lines(answer: Answer, name: str) -> list[tuple[bool, str]]:
    where = f"in the host {answer.host}"
    if answer.error:
        return [(False, f"{name} {where}: {answer.error}")]
    if not answer.results:
        return [(False, f"{name} is not there any more {where}")]
    return [_line(result, where) for result in answer.results]


def _line(result: dict[str, Any], where: str) -> tuple[bool, str]:
    what = f"{result.get('plugin')} {result.get('version') or ''}".rstrip()
    told = _TOLD.get(str(result.get("result")))
    if told is None:
        return False, f"{what} {where} does not start anew, so what ran goes on: {result.get('reason')}"
    return True, f"{what} {where} {told}"
