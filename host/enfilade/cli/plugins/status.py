"""`enfilade plugins status`: how the plugins of the hosts stand that run."""

import time
from collections.abc import Mapping
from typing import Any

import click

from enfilade.cli.exit_code import DONE
from enfilade.cli.listing import print_json, print_table
from enfilade.running.asking import shown_plugins
from enfilade.running.folder import living_hosts
from enfilade.running.places import hosts_folder

_COLUMNS = ("plugin", "version", "state", "for", "host", "processes", "runs", "waiting", "crashes", "reason")


def show(as_json: bool) -> int:
    """Prints a row for each plugin of each host."""
    rows = [{"host": folder.pid} | shown for folder in living_hosts(hosts_folder()) for shown in shown_plugins(folder)]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(_COLUMNS, [_row(row) for row in rows])
    else:
        click.echo("no host of this user has started a plugin", err=True)
    return DONE


def _row(shown: Mapping[str, Any]) -> dict[str, Any]:
    processes = shown.get("processes") or []
    return {
        **shown,
        "for": span(time.time() - float(shown.get("since") or 0)),
        "processes": ", ".join(f"{process['pid']} {process['state']}" for process in processes)
        or shown.get("address", ""),
        "reason": "; last crash: ".join(text for text in (shown.get("reason"), shown.get("last_crash")) if text),
    }


def span(seconds: float) -> str:
    """How long something has been so, in the largest unit that tells."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"
