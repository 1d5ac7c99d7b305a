"""Listings on standard output: columns for people, JSON for programs."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from enfilade.cli.json_line import json_text
from enfilade.cli.visible import in_one_line

_WIDEST = 200


def print_json(value: Any) -> None:
    """Prints a value as JSON of several lines."""
    click.echo(json_text(value, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints a line for each row under a line of headings; what a row lacks is `-`."""
    click.echo(table(columns, rows), nl=False)


def table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """A line for each row under a line of headings; what a row lacks is `-`."""
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    lines = [[column.upper() for column in columns], *cells]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in padded)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return in_one_line(str(value), _WIDEST)
