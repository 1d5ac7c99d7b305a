"""Times as people give them: a date, a date with a time, or an age."""

import re
from datetime import datetime, timedelta

from enfilade.cli.usage import CommandLineError

_AGE = re.compile(r"([0-9]{1,6})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def moment(text: str, now: datetime, option: str) -> datetime:
    """The time that is meant.

    Args:
        text: `2026-11-30`, `2026-11-30T18:00` (of this machine's time zone, unless it names another), or an age in
            hours, days or weeks such as `30d`.
        now: What ages are counted back from, with a time zone.
        option: What the text was given for, for the error.

    Raises:
        CommandLineError: The text is none of these, or the time is none that there can be.
    """
    try:
        if age := _AGE.fullmatch(text):
            return now - int(age[1]) * _UNITS[age[2]]
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise CommandLineError(
            f"{option}: expected a date (2026-11-30), a time (2026-11-30T18:00) or an age (12h, 30d, 8w), got {text!r}"
        ) from None
