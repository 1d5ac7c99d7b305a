"""The time in records: whole microseconds since 1970 UTC."""

import time

MICROSECONDS = 1_000_000

CLOCK = "SELECT (extract(epoch from clock_timestamp()) * 1000000)::bigint"
UP_SINCE = "SELECT (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint"
"""A PostgreSQL server's time, and that of its start, in microseconds since 1970."""


def now() -> int:
    """The time on this machine, in microseconds since 1970 UTC."""
    return time.time_ns() // 1000
