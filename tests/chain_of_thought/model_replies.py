"""Replies as models of many vendors write them, and what their users would expect to come of each."""

import json
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_suffix(".jsonl")


class Said(NamedTuple):
    """A reply; one line of the file.

    Attributes:
        name: What is special about it.
        reply: Its text.
        read: What comes of it: `call NAME ARGUMENTS`, `unknown NAME ARGUMENTS`, `answer TEXT`, `text TEXT` or `error`.
        chinese: Whether the Chinese labels are read.
    """

    name: str
    reply: str
    read: tuple[str, ...]
    chinese: bool


def replies() -> list[Said]:
    """All of the file."""
    lines = map(json.loads, FILE.read_text(encoding="utf-8").split("\n")[:-1])
    return [Said(line["name"], line["reply"], tuple(line["read"]), line.get("chinese", False)) for line in lines]
