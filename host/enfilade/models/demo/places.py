"""Places and time zones in a question."""

import re
from collections.abc import Mapping
from functools import cache
from zoneinfo import available_timezones

_NAME = r"[A-Z][\w'\u2019.-]*(?:\s+(?:of\s+)?[A-Z][\w'\u2019-]*)*"
_AFTER = re.compile(rf"\b(?:in|at|for|from|near|of|to|around)\s+({_NAME})")
_CAPITAL = re.compile(rf"(?<=[\w,;:]\s)({_NAME})")
_ZONE = re.compile(r"\b[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)?\b")
_OFFSET = re.compile(r"\b(?:UTC|GMT)\s?([+-]\d{1,2}(?::?\d{2})?)")

_LONGEST = 4

_ELSEWHERE: Mapping[str, str] = {
    "beijing": "Asia/Shanghai",
    "boston": "America/New_York",
    "california": "America/Los_Angeles",
    "china": "Asia/Shanghai",
    "delhi": "Asia/Kolkata",
    "england": "Europe/London",
    "france": "Europe/Paris",
    "germany": "Europe/Berlin",
    "geneva": "Europe/Zurich",
    "hamburg": "Europe/Berlin",
    "india": "Asia/Kolkata",
    "italy": "Europe/Rome",
    "japan": "Asia/Tokyo",
    "korea": "Asia/Seoul",
    "miami": "America/New_York",
    "milan": "Europe/Rome",
    "mumbai": "Asia/Kolkata",
    "munich": "Europe/Berlin",
    "new delhi": "Asia/Kolkata",
    "nyc": "America/New_York",
    "oban": "Europe/London",
    "osaka": "Asia/Tokyo",
    "rio de janeiro": "America/Sao_Paulo",
    "san francisco": "America/Los_Angeles",
    "scotland": "Europe/London",
    "seattle": "America/Los_Angeles",
    "spain": "Europe/Madrid",
    "washington": "America/New_York",
}


def place_in(text: str) -> str | None:
    """The place, or other proper name, that a question is about."""
    for pattern in (_AFTER, _CAPITAL):
        found: re.Match[str] | None = pattern.search(text)
        if found is not None:
            return found[1].rstrip(".-'\u2019")
    return None


def zone_in(text: str) -> str | None:
    """The time zone that a question names, by its own name, by an offset or by a city; None when it names none."""
    named = _ZONE.search(text)
    if named is not None:
        return named[0]
    offset = _OFFSET.search(text)
    if offset is not None:
        return offset[1]
    if re.search(r"\b(?:UTC|GMT)\b", text):
        return "UTC"
    return _zone_of_city(text)


def _zone_of_city(text: str) -> str | None:
    """The zone of the longest city name in a text."""
    words, cities = re.findall(r"[^\W\d_]+", text.lower()), _cities()
    for length in range(_LONGEST, 0, -1):
        for start in range(len(words) - length + 1):
            zone = cities.get(" ".join(words[start : start + length]))
            if zone is not None:
                return zone
    return None


@cache
def _cities() -> Mapping[str, str]:
    """City names, in lower case, to their zones."""
    regions = {"Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"}
    zones = sorted(zone for zone in available_timezones() if zone.partition("/")[0] in regions)
    return {zone.rpartition("/")[2].replace("_", " ").lower(): zone for zone in zones} | dict(_ELSEWHERE)
