"""Plugins' log files: bounded, whole lines, shared, without secrets, to be read and followed."""

import logging
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from enfilade.isolation.journal import REMEMBERED, Journal
from enfilade.isolation.output import OutputTail
from enfilade.running.log_lines import follow, last_lines, logged_plugins, read_line
from enfilade.running.logbook import Logbook, log_file


@pytest.fixture
def logbook(tmp_path: Path) -> Iterator[Logbook]:
    book = Logbook(tmp_path, file_bytes=2000)
    yield book
    book.close()


def test_a_line_has_its_time_level_process_and_text(tmp_path: Path, logbook: Logbook) -> None:
    logbook.write("Tide_Table", logging.WARNING, 7, "high water")
    logbook.write("Tide_Table", logging.INFO, None, "[ready]: two\nlines")
    (first, second), _ = last_lines(tmp_path, "tide_table", 10)
    assert (first.level, first.pid, first.text) == ("WARNING", 7, "high water")
    assert first.time.endswith("Z")
    assert (second.pid, second.text) == (None, "[ready]: two")
    assert log_file(tmp_path, "tide_table").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["../../etc/passwd", "module:Class", "/abs", "..", "", "ümlaut", "a" * 60])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    path = log_file(tmp_path, name)
    assert path.parent == tmp_path
    assert path.name not in (".log", "..log")


def test_what_a_plugin_may_fill_is_bounded_and_the_newest_is_kept(tmp_path: Path, logbook: Logbook) -> None:
    for number in range(1000):
        logbook.write("p", logging.INFO, 1, f"line {number}")
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes.keys() == {"p.log", "p.log.1", "p.log.2"}
    assert max(sizes.values()) <= 2000
    lines, _ = last_lines(tmp_path, "p", 50)
    assert [line.text for line in lines] == [f"line {number}" for number in range(950, 1000)]


def test_lines_of_two_hosts_do_not_mix_and_none_is_lost_in_between(tmp_path: Path) -> None:
    def write(name: str) -> None:
        book = Logbook(tmp_path, file_bytes=20_000)
        for number in range(300):
            book.write("p", logging.INFO, 1, f"{name} {number}")
        book.close()

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines, _ = last_lines(tmp_path, "p", 10_000)
    for name in ("a", "b"):
        numbers = [int(line.text.split()[1]) for line in lines if line.text.startswith(name)]
        assert numbers == list(range(numbers[0], 300))  # the oldest may be gone, whole
    assert all(line.time for line in lines)


def test_one_who_follows_misses_nothing_when_a_file_is_put_aside(tmp_path: Path, logbook: Logbook) -> None:
    logbook.write("p", logging.INFO, 1, "before")
    _, end = last_lines(tmp_path, "p", 0)
    followed = follow(tmp_path, "p", end)
    for number in range(60):  # some 40 lines a file
        logbook.write("p", logging.INFO, 1, f"line {number}")
        assert next(followed).text == f"line {number}"
    followed.close()


def test_a_log_is_followed_from_where_it_ended(tmp_path: Path, logbook: Logbook) -> None:
    logbook.write("p", logging.INFO, 1, "one")
    (one,), end = last_lines(tmp_path, "p", 5)
    logbook.write("p", logging.INFO, 1, "two")
    logbook.write("p", logging.INFO, 1, "three")
    assert one.text == "one"
    assert [line.text for line in islice(follow(tmp_path, "p", end), 2)] == ["two", "three"]
    assert logged_plugins(tmp_path) == ["p"]


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_log(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    book = Logbook(tmp_path / "file")
    book.write("p", logging.INFO, 1, "lost")
    book.close()


def test_a_damaged_line_is_all_text() -> None:
    assert read_line(b"no line of ours \xff").text == "no line of ours \N{REPLACEMENT CHARACTER}"


def test_secrets_are_masked_wherever_a_line_goes(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    kept: list[str] = []
    journal = Journal("p", {"TIDE_API_KEY": "abc-123-xyz", "REGION": "north"})
    journal.sinks.append(lambda _plugin, _level, _pid, text: kept.append(text))
    journal.hide(["of-the-run"])
    tail = OutputTail("p", journal=journal)
    said = "abc-123-xyz in north, of-the-run, postgres://me:hunter2@db/x, Authorization: Bearer abcdefgh12345"
    tail.feed(1, said.encode() + b"\n")
    masked = "******** in north, ********, postgres://me:********@db/x, Authorization: Bearer ********"
    assert kept == tail.lines == [masked]
    assert masked in caplog.text
    assert "hunter2" not in caplog.text


def test_the_secrets_that_are_remembered_are_bounded() -> None:
    journal = Journal("p", {"A_TOKEN": "for-ever"})
    journal.hide(f"secret-{number:04}" for number in range(3 * REMEMBERED))
    assert journal.mask("secret-0001 secret-0767 for-ever") == "secret-0001 ******** ********"
