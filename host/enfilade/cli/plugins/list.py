"""`enfilade plugins list`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import click

from enfilade.candidate import Candidate
from enfilade.cli.candidates import beside_the_host
from enfilade.cli.exit_code import DONE, FAILED
from enfilade.cli.failure import failure_text
from enfilade.cli.listing import print_json, print_table
from enfilade.cli.visible import in_one_line
from enfilade.config import Config, load_config
from enfilade.discovery.managed import managed_candidates
from enfilade.environments.entry import PluginEntry
from enfilade.environments.errors import InstallError
from enfilade.environments.installed import InstalledPlugins

_COLUMNS = ("name", "plugin", "version", "isolation", "state", "about", "origin")
_ABOUT_WIDTH = 48


def show(as_json: bool) -> int:
    """Prints the strategies, with where they come from and how they run; gives 1 when some cannot be told."""
    config = load_config()
    installed, fault = _installed(config)
    rows = [row for candidate in beside_the_host(config) for row in _rows(candidate)] + installed
    rows.sort(key=lambda row: (row["name"] or "", row["plugin"]))
    if as_json:
        print_json(rows)
    elif rows:
        _print(rows)
    else:
        click.echo("no strategy is installed; pip install enfilade-fc brings function calling", err=True)
    for name, plugins in _conflicts(rows).items():
        click.echo(f"warning: {name} is offered by {' and '.join(plugins)}; disable all but one", err=True)
    if fault:
        click.echo(fault, err=True)
    return FAILED if fault else DONE


def _installed(config: Config) -> tuple[list[dict[str, Any]], str]:
    """The rows of the plugins with environments of their own, and why they cannot be told."""
    try:
        entries = InstalledPlugins().entries()
    except InstallError as error:
        return [], failure_text(error)
    enabled = {candidate.plugin for candidate in managed_candidates(config.plugins, entries)}
    return [row for entry in entries for row in _entry_rows(entry, enabled=entry.name in enabled)], ""


def _entry_rows(entry: PluginEntry, *, enabled: bool) -> list[dict[str, Any]]:
    described = {description.get("name"): description for description in entry.descriptions}
    about = {
        "plugin": entry.name,
        "version": entry.version,
        "origin": str(entry.venv),
        "isolation": "process",
        "state": "enabled" if enabled else "disabled",
    }
    return [{"name": offer.name, **about, "about": _about(described.get(offer.name, {}))} for offer in entry.offers]


def _about(description: Mapping[str, Any]) -> str | None:
    """What it says of itself, in a line: as it was when it was installed."""
    for text in (description.get("description"), description.get("label")):
        shown = text.get("en_US", next(iter(text.values()), None)) if isinstance(text, dict) else text
        if isinstance(shown, str) and shown:
            return shown
    return None


def _rows(candidate: Candidate) -> list[dict[str, Any]]:
    about = {
        "plugin": candidate.plugin,
        "version": candidate.version or None,
        "origin": candidate.origin,
        "isolation": "remote" if candidate.address else candidate.isolation,
        "state": "enabled",
        "about": None,
    }
    return [{"name": offer.name, **about} for offer in candidate.offers] or [{"name": None, **about}]


def _print(rows: list[dict[str, Any]]) -> None:
    """Prints the columns; those that would say the same of every row are left out."""
    telling = {"state": any(row["state"] != "enabled" for row in rows), "about": any(row["about"] for row in rows)}
    columns = [column for column in _COLUMNS if telling.get(column, True)]
    print_table(columns, [row | _shown(row) for row in rows])


def _shown(row: Mapping[str, Any]) -> dict[str, str]:
    return {"name": row["name"] or "(the plugin says)", "about": in_one_line(row["about"] or "", _ABOUT_WIDTH)}


def _conflicts(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["name"] is not None and row["state"] == "enabled":
            by_name[row["name"]].append(f"{row['plugin']} {row['version'] or ''}".rstrip())
    return {name: plugins for name, plugins in by_name.items() if len(plugins) > 1}
