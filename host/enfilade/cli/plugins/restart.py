"""`enfilade plugins restart`: the hosts that run start a plugin anew."""

from dataclasses import asdict
from typing import Any

from enfilade.cli.exit_code import DONE, FAILED
from enfilade.cli.failure import tell
from enfilade.cli.json_line import json_text
from enfilade.cli.plugins.name import owner_hint
from enfilade.cli.screen import Screen
from enfilade.errors import LaunchError, near_matches
from enfilade.running.asking import Answer, restart, shown_plugins
from enfilade.running.folder import living_hosts
from enfilade.running.places import hosts_folder
from enfilade_sdk.errors import EnfiladeError, InternalError, InvalidParamsError, NotAdmittedError, error_from_code

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
        known = [str(shown["plugin"]) for folder in living_hosts(hosts_folder()) for shown in shown_plugins(folder)]
        alike = near_matches(name, known) if known else "see `enfilade plugins status`"
        text = f"no host that runs has started a plugin {name!r}; {alike}{owner_hint(name)}"
        return tell(screen, InvalidParamsError(text), as_json=as_json)
    if as_json:
        screen.say(json_text([asdict(answer) for answer in answers], indent=2) + "\n")
    fine = True
    for told in (told for answer in answers for told in _told(answer, name)):
        if isinstance(told, EnfiladeError):
            fine = False
            tell(screen, told)  # as JSON it stands in the answer
        elif not as_json:
            screen.say(f"{told}\n")
    return DONE if fine else FAILED


def _told(answer: Answer, name: str) -> list[str | EnfiladeError]:
    """What is told of an answer: a line for each version, or why there is none."""
    where = f"in the host {answer.host}"
    if answer.error:
        return [InternalError(f"{name} {where}: {answer.error}")]
    if not answer.results:
        return [NotAdmittedError(f"{name} is not there any more {where}")]
    return [_line(result, where) for result in answer.results]


def _line(result: dict[str, Any], where: str) -> str | EnfiladeError:
    what = f"{result.get('plugin')} {result.get('version') or ''}".rstrip()
    told = _TOLD.get(str(result.get("result")))
    if told is not None:
        return f"{what} {where} {told}"
    text = f"{what} {where} does not start anew, so what ran goes on: {result.get('reason')}"
    return error_from_code(str(result.get("code") or LaunchError.code.value), text)
