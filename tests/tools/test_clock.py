import datetime as dt
import os
import re
import subprocess
import sys

import pytest

from enfilade.tools.builtins.clock import current_time, zone_of
from enfilade_sdk.errors import InvalidParamsError
from tests.support.tool_calls import call, engine_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("UTC", "UTC"),
        ("utc", "UTC"),
        ("", "UTC"),
        ("Z", "UTC"),
        ("GMT", "UTC"),
        ("Europe/Paris", "Europe/Paris"),
        ("europe/paris", "Europe/Paris"),
        ("Paris", "Europe/Paris"),
        ("New York", "America/New_York"),
        ("america/new york", "America/New_York"),
        ("+05:30", "UTC+05:30"),
        ("UTC+2", "UTC+02:00"),
        ("utc -0330", "UTC-03:30"),
    ],
)
def test_zones_are_known_by_name_city_and_offset(text: str, name: str) -> None:
    zone, found = zone_of(text)
    assert found == name
    assert dt.datetime.now(zone).utcoffset() is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Europe/Pariss", "there is no time zone 'Europe/Pariss'. Did you mean Europe/Paris"),
        ("Tokio", "Did you mean Asia/Tokyo"),
        ("Mars/Olympus", "Give an IANA name such as Europe/Paris"),
        ("../../etc/passwd", "there is no time zone '../../etc/passwd'"),
        ("x" * 10_000, "there is no time zone 'xxx"),
        ("a\0b", "there is no time zone"),
        ("+99", "the offset '+99' is a day or more"),
    ],
)
def test_an_unknown_zone_is_refused_with_near_matches(text: str, words: str) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        zone_of(text)
    assert words in caught.value.message
    assert len(caught.value.message) < 300


def test_the_time_is_told_with_its_offset_and_day() -> None:
    told = current_time("+05:30")
    match = re.fullmatch(r"(\S+) \((\w+day), UTC\+05:30\)", told)
    assert match is not None
    time = dt.datetime.fromisoformat(match[1])
    assert time.utcoffset() == dt.timedelta(hours=5, minutes=30)
    assert abs(dt.datetime.now(dt.UTC) - time) < dt.timedelta(seconds=30)
    assert f"{time:%A}" == match[2]


async def test_the_clock_is_a_tool_that_needs_nothing() -> None:
    async with engine_of("current_time") as engine:
        assert "required" not in engine.menu()[0].parameters
        assert "day, UTC)" in (await call(engine, "current_time")).text
        assert "Europe/Paris" in (await call(engine, "current_time", "Paris")).text
        failed = await call(engine, "current_time", {"timezone": "Europe/Pariss"})
    assert failed.result.is_error
    assert "Did you mean Europe/Paris" in failed.text


def test_zones_are_known_on_a_machine_that_has_none() -> None:
    script = "from enfilade.tools.builtins.clock import current_time; print(current_time('Paris'))"
    environment = {**os.environ, "PYTHONTZPATH": ""}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert "Europe/Paris" in done.stdout
