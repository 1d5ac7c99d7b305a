"""Times on the command line."""

from datetime import UTC, datetime, timedelta

import pytest

from enfilade.cli.moment import moment
from enfilade.cli.usage import CommandLineError

NOW = datetime(2026, 11, 30, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("12h", NOW - timedelta(hours=12)),
        ("30d", NOW - timedelta(days=30)),
        ("8w", NOW - timedelta(weeks=8)),
        ("2026-11-01", datetime(2026, 11, 1).astimezone()),
        ("2026-11-01T10:30+02:00", datetime(2026, 11, 1, 8, 30, tzinfo=UTC)),
    ],
)
def test_a_date_a_time_or_an_age_is_a_moment(text: str, meant: datetime) -> None:
    assert moment(text, NOW, "--before") == meant
    assert moment(text, NOW, "--before").tzinfo is not None


@pytest.mark.parametrize("text", ["", "d", "30", "30x", "-3d", "999999w", "2026-13-01", "yesterday", "٣d"])
def test_anything_else_is_refused_with_what_serves(text: str) -> None:
    with pytest.raises(CommandLineError, match=r"--before: expected a date .* an age \(12h, 30d, 8w\)"):
        moment(text, NOW, "--before")
