"""Text that goes by without being looked at: the short way that most chunks take."""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from enfilade_cot.events import Event

Make = Callable[[str], Event]
"""Makes the event of a text."""

Take = Callable[[str], list[Event] | None]
"""Makes the events of a text; None when it must be looked at after all."""

Search = Callable[[str], object]


class Quiet(NamedTuple):
    """How it may go by.

    Attributes:
        stops: Single characters that may not go by as `make`'s event; None is all.
        search: Finds what may not in a text of several characters.
        make: Makes the event.
        second: Finds what may not go by in the second way.
        take: The second way: holds text back, or gives out what was held with it.
    """

    stops: frozenset[str] | None
    search: Search
    make: Make
    second: Search
    take: Take


def quiet_as(make: Make, stops: str) -> Quiet:
    """Lets text go by as one kind of event, save where one of `stops` is in it."""
    return Quiet(frozenset(stops), _search(stops, ""), make, _all, _nothing)


def quiet_trimmed(make: Make, stops: str, white: str, take: Take) -> Quiet:
    """The same, but text that ends with white space, which may be the end of the whole, is taken the second way."""
    return Quiet(frozenset(stops + white), _search(stops, white), make, _search(stops, ""), take)


def quiet_held(stops: str, take: Take) -> Quiet:
    """Lets text go by the second way only."""
    return Quiet(None, _all, _never, _search(stops, ""), take)


@cache
def _search(stops: str, at_end: str) -> Search:
    """An empty text is always looked at."""
    classes = [f"[{re.escape(stops)}]"] * bool(stops) + [rf"[{re.escape(at_end)}]\Z"] * bool(at_end)
    return re.compile("|".join([*classes, r"\A\Z"])).search


def _all(_: str) -> object:
    return True


def _nothing(_: str) -> None:
    return None


def _never(text: str) -> Event:
    raise AssertionError(text)


LOUD = Quiet(None, _all, _never, _all, _nothing)
"""Everything is looked at."""
