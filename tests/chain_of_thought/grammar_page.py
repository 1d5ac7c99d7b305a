"""The examples of docs/chain-of-thought.md."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from enfilade_cot.events import Action, Answer, Dropped, Event, ParseError, spoken

PAGE = Path(__file__).parents[2] / "docs" / "chain-of-thought.md"

_CODE = r"(?:`` (.*?) ``|`(.*?)`)"
_ROW = re.compile(rf"\| (?P<form>.+?) \| (?P<reply>{_CODE}) \| (?P<read>`.*`) \|")
_READ = re.compile(rf"{_CODE}(?=, `|$)")
_SIGNS = {"\u23ce": "\n", "\u240d": "\r"}


@dataclass(frozen=True)
class Example:
    """One row: the form, the section's word in brackets, the reply, what it is read as."""

    form: str
    mode: str
    reply: str
    read: tuple[str, ...]


def examples() -> list[Example]:
    """All rows with a reply."""
    found = []
    mode = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        heading = re.match(r"\| form(?: \((\w+)\))? \| reply", line)
        if heading:
            mode = heading[1] or ""
        row = _ROW.fullmatch(line)
        if row:
            (reply,) = _codes(row["reply"])
            read = tuple(_plain(code) for code in _codes(row["read"]))
            found.append(Example(row["form"], mode, _plain(reply), read))
    return found


def told(events: list[Event]) -> tuple[str, ...]:
    """The events in the words of the page; dropped text only behind an action."""
    words = []
    for event in events:
        match event:
            case Action():
                words.append(f"{'call' if event.known else 'unknown'} {event.name} {_json(event.input)}")
            case Answer():
                words.append(f"answer {event.text}")
            case ParseError():
                words.append("error")
            case Dropped() if words:
                words.append(f"dropped {event.text}")
            case _:
                pass
    return tuple(words) or (f"text {spoken(events)}",)


def _codes(text: str) -> list[str]:
    return [double or single for double, single in _READ.findall(text)]


def _plain(text: str) -> str:
    for sign, character in _SIGNS.items():
        text = text.replace(sign, character)
    return text


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\\n", "\n")
