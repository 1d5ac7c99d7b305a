"""What docs/records.md shows is run as it stands."""

import re
import shlex
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import click
import pytest

from enfilade.cli.program import enfilade
from enfilade.config import MemorySettings
from enfilade.store.schema import make_tables
from enfilade.store.settings import StoreSettings

PAGE = (Path(__file__).parents[2] / "docs" / "records.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found


def test_the_examples_run_in_order_and_print_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in blocks("python"):
        exec(compile(code, "docs/records.md", "exec"), names)
    assert capsys.readouterr().out.splitlines() == [
        "1 False ['user', 'assistant', 'tool', 'assistant']",
        "120 0.0004 2 1",
        "{'large': 2}",
        "3fa9c1d2 succeeded At ten past two.",
        "[(1, ['low water 14:10']), (2, [])]",
    ]
    assert '"enfilade_run": 1' in (tmp_path / "run.json").read_text(encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "records.db")) as connection:
        (query,) = blocks("sql")
        assert connection.execute(query).fetchall() == [("large", 2, 120, 0.0004)]
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)


def test_the_settings_are_all_there_are_and_those_that_hold_anyway() -> None:
    shown = tomllib.loads(blocks("toml")[0])["store"]
    assert set(shown) == set(StoreSettings.model_fields)
    assert StoreSettings(**shown).model_dump(exclude={"url"}) == StoreSettings().model_dump(exclude={"url"})


def test_the_settings_of_the_memory_are_all_there_are() -> None:
    shown = tomllib.loads(blocks("toml")[1])["memory"]
    assert set(shown) == set(MemorySettings.model_fields)
    assert MemorySettings(**shown).model_dump() == shown


def test_every_command_that_is_shown_is_understood() -> None:
    words = [shlex.split(line, comments=True) for block in blocks("console") for line in block.splitlines()]
    assert {tuple(line[1:3]) for line in words} >= {("enfilade", "chat"), ("enfilade", "runs")}
    for line in words:
        command: click.Command | None = enfilade
        left = line[2:]
        while isinstance(command, click.Group):
            name, *left = left
            command = command.get_command(click.Context(command), name)
        assert command is not None, line
        command.make_context(line[-1], left)


def test_every_table_is_named() -> None:
    for table in make_tables().metadata.sorted_tables:
        assert f"`{table.name}`" in PAGE
