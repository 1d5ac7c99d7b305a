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
    """How it may go by: at once, as one kind of event; or else, where that is not possible, in a second way.

    Attributes:
        stops: Single characters that may not go by at once; None is all.
        search: Finds what may not in a text of several characters.
        make: Makes the event.
        second_stops: Single characters that may not go by in the second way either.
        second_search: Finds what may not in a text of several characters.
        take: The second way: holds text back, or gives out what was held with it.
        turned: What may go by at once after the second way, if that changes it.
    """

    stops: frozenset[str] | None
    search: Search
    make: Make
    second_stops: frozenset[str]
    second_search: Search
    take: Take
    turned: "Callable[[], AtOnce] | None"


class AtOnce(NamedTuple):
    """What may go by at once: `stops` and `search` of `Quiet`."""

    stops: frozenset[str] | None
    search: Search


def quiet_as(make: Make, stops: str) -> Quiet:
    """Lets text go by as one kind of event, save where one of `stops` is in it."""
    return Quiet(frozenset(stops), _search(stops, ""), make, _NONE, _all, _nothing, None)


def quiet_trimmed(make: Make, stops: str, white: str, take: Take, turned: Callable[[], AtOnce]) -> Quiet:
    """The same, but text that ends with white space, which may be the end of the whole, is taken the second way."""
    at_once = frozenset(stops + white), _search(stops, white), make
    return Quiet(*at_once, frozenset(stops), _search(stops, ""), take, turned)


def quiet_held(stops: str, take: Take) -> Quiet:
    """Lets text go by the second way only."""
    return Quiet(None, _all, _never, frozenset(stops), _search(stops, ""), take, None)


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


_NONE: frozenset[str] = frozenset()

ALOUD = AtOnce(None, _all)
"""Nothing may."""

LOUD = Quiet(None, _all, _never, _NONE, _all, _nothing, None)
"""Everything is looked at."""
