"""`enfilade plugins logs`: what a plugin's processes printed, and their states."""

from dataclasses import asdict

from enfilade.cli.exit_code import DONE, FAILED
from enfilade.cli.failure import tell
from enfilade.cli.json_line import json_line
from enfilade.cli.plugins.name import owner_hint
from enfilade.cli.screen import ReaderGoneError, Screen
from enfilade.errors import near_matches
from enfilade.running.log_lines import LogLine, follow, last_lines, logged_plugins
from enfilade.running.places import logs_folder
from enfilade_sdk.errors import InvalidParamsError


def show(name: str, number: int, going_on: bool, as_json: bool) -> int:
    """Prints the last lines, and with `going_on` those that follow, until Ctrl-C."""
    screen, folder = Screen.claim(), logs_folder()
    try:
        lines, end = last_lines(folder, name, number)
    except FileNotFoundError:
        alike = near_matches(name, logged_plugins(folder))
        text = f"there is no log of a plugin {name!r}; {alike}{owner_hint(name)}"
        return tell(screen, InvalidParamsError(text), as_json=as_json)
    try:
        for line in lines:
            _print(screen, line, as_json=as_json)
        if going_on:
            for line in follow(folder, name, end):
                _print(screen, line, as_json=as_json)
    except ReaderGoneError:
        return FAILED
    return DONE


def _print(screen: Screen, line: LogLine, *, as_json: bool) -> None:
    if as_json:
        screen.result(json_line(asdict(line)))
    else:
        screen.say(f"{line.time} {line.level} {line.pid or '-'} {line.text}\n")
