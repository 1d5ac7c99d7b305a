"""The tool `current_time`."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from enfilade.tools.names import near
from enfilade_sdk.errors import InvalidParamsError

_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?(\d{2}))?\Z", re.IGNORECASE | re.ASCII)


def current_time(
    timezone: Annotated[
        str, "An IANA time zone such as Europe/Paris, a city that has one, or an offset such as +05:30."
    ] = "UTC",
) -> str:
    """Tells the current date and time in a time zone, as ISO 8601, with the day of the week."""
    zone, name = zone_of(timezone)
    now = datetime.now(zone)
    return f"{now.isoformat(timespec='seconds')} ({now:%A}, {name})"


def zone_of(text: str) -> tuple[tzinfo, str]:
    """The time zone that a text means, and its name.

    Takes IANA names in any case, the last part of one where only one zone has it (`Paris`, `new york`), and offsets.

    Raises:
        InvalidParamsError: No such zone is known; the text names near matches.
    """
    word = "_".join(text.split())
    if word.upper() in {"", "UTC", "Z", "GMT"}:
        return UTC, "UTC"
    if match := _OFFSET.match(text.strip()):
        return _offset(match, text)
    known = available_timezones()
    name = {name.lower(): name for name in known}.get(word.lower()) or _by_city(word.lower(), known)
    if name is None:
        raise InvalidParamsError(f"there is no time zone {text[:64]!r}.{_near(word, known)}")
    try:
        return ZoneInfo(name), name
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidParamsError(
            f"the data of the time zone {name!r} cannot be read on this machine; try UTC"
        ) from None


def _offset(match: re.Match[str], text: str) -> tuple[tzinfo, str]:
    minutes = int(match[2]) * 60 + int(match[3] or 0)
    if minutes >= 24 * 60:
        raise InvalidParamsError(f"the offset {text[:64]!r} is a day or more; offsets go from -23:59 to +23:59")
    sign = -1 if match[1] == "-" else 1
    return timezone(sign * timedelta(minutes=minutes)), f"UTC{match[1]}{minutes // 60:02}:{minutes % 60:02}"


def _by_city(word: str, known: set[str]) -> str | None:
    """The zone whose last part is the word; of several the one in a continent, as against `posix/` and the like."""
    places = [name for name in known if name.lower().rpartition("/")[2] == word and name.count("/") > 0]
    continents = sorted(name for name in places if not name.startswith(("posix/", "right/", "Etc/", "US/", "Canada/")))
    return continents[0] if len(continents) == 1 else None


def _near(word: str, known: set[str]) -> str:
    cities = {name.rpartition("/")[2]: name for name in sorted(known)}
    matches = [*near(word, known), *(cities[city] for city in near(word.rpartition("/")[2], cities))]
    found = list(dict.fromkeys(matches))[:4]
    return f" Did you mean {' or '.join(found)}?" if found else " Give an IANA name such as Europe/Paris"
