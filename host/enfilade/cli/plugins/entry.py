"""An installed plugin as the command tells of it."""

from typing import Any

from enfilade.cli.json_line import json_text
from enfilade.environments.entry import PluginEntry


def entry_form(entry: PluginEntry) -> dict[str, Any]:
    """The plugin as JSON: what plugins.lock has of it, without hashes and descriptions."""
    return {
        "plugin": entry.name,
        "version": entry.version,
        "enabled": entry.enabled,
        "strategies": [offer.name for offer in entry.offers],
        "python": entry.python_version,
        "interpreter": entry.interpreter,
        "folder": str(entry.folder),
        "spec": entry.spec,
        "allow_build": entry.allow_build,
        "installer": entry.installer,
        "installed": entry.installed,
        "tree": entry.tree,
        "packages": {package.name: package.version for package in entry.packages},
    }


def entry_json(entry: PluginEntry) -> str:
    """Lines of JSON about a plugin."""
    return json_text(entry_form(entry), indent=2) + "\n"


def strategies_text(entry: PluginEntry) -> str:
    """Its strategies by name, in words."""
    names = [offer.name for offer in entry.offers]
    return f"strategy {names[0]}" if len(names) == 1 else f"strategies {', '.join(names)}"
