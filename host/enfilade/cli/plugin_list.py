"""`enfilade plugins list`."""

from collections import defaultdict
from typing import Any

import click

from enfilade.candidate import Candidate
from enfilade.cli.candidates import discovered
from enfilade.cli.exit_code import DONE
from enfilade.cli.listing import print_json, print_table
from enfilade.config import load_config

_COLUMNS = ("name", "plugin", "version", "isolation", "origin")


def show(as_json: bool) -> int:
    """Prints the strategies, with where they come from and how they run."""
    candidates = discovered(load_config())
    rows = sorted((row for c in candidates for row in _rows(c)), key=lambda row: (row["name"] or "", row["plugin"]))
    if as_json:
        print_json(rows)
    elif rows:
        print_table(_COLUMNS, [row | {"name": row["name"] or "(the plugin says)"} for row in rows])
    else:
        click.echo("no strategy is installed; pip install enfilade-fc brings function calling", err=True)
    for name, plugins in _conflicts(rows).items():
        click.echo(f"warning: {name} is offered by {' and '.join(plugins)}; disable all but one", err=True)
    return DONE


def _rows(candidate: Candidate) -> list[dict[str, Any]]:
    about = {
        "plugin": candidate.plugin,
        "version": candidate.version or None,
        "origin": candidate.origin,
        "isolation": "remote" if candidate.address else candidate.isolation,
    }
    return [{"name": offer.name, **about} for offer in candidate.offers] or [{"name": None, **about}]


def _conflicts(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["name"] is not None:
            by_name[row["name"]].append(row["plugin"])
    return {name: plugins for name, plugins in by_name.items() if len(plugins) > 1}
