"""`enfilade tools`."""

from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from enfilade.cli.exit_code import DONE
from enfilade.cli.listing import print_json, print_table
from enfilade.config import Config, load_config
from enfilade.extensions.own import enfilade_tools
from enfilade.settings.current_folder import current_folder
from enfilade.tools.functions.threads import Threads
from enfilade.tools.knowledge.place import files
from enfilade.tools.registry import SourceRegistry

_COLUMNS = ("name", "origin", "description")


def show(as_json: bool) -> int:
    """Prints the tools that can be asked for by name; functions of one's own need no listing."""
    config = load_config()
    rows = _configured(config) + _servers(config) + _interfaces(config) + _knowledge(config) + _available()
    if as_json:
        print_json(rows)
    else:
        print_table(_COLUMNS, rows)
    return DONE


def _configured(config: Config) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "origin": "configuration" if entry.enabled else "configuration (disabled)",
            "description": entry.description or f"the tool {entry.label}",
        }
        for name, entry in config.tools.items()
    ]


def _servers(config: Config) -> list[dict[str, Any]]:
    """The MCP servers of the configuration; none is started to be listed."""
    described = {
        name: urlsplit(server.url).hostname if server.url else " ".join(server.words())
        for name, server in config.mcp.items()
    }
    return [
        {"name": f"mcp:{name}", "origin": "configuration", "description": f"the tools of the MCP server {what}"}
        for name, what in described.items()
    ]


def _interfaces(config: Config) -> list[dict[str, Any]]:
    """The interfaces of the configuration; no document is read to list them."""
    return [
        {
            "name": f"openapi:{name}",
            "origin": "configuration",
            "description": f"the operations of {PurePath(urlsplit(interface.document).path).name or name}",
        }
        for name, interface in config.openapi.items()
    ]


def _knowledge(config: Config) -> list[dict[str, Any]]:
    """The knowledge bases of the configuration and of the user's data folder; none is opened to list them."""
    described = {name: settings.description for name, settings in config.knowledge.items()}
    return [
        {
            "name": f"knowledge:{name}",
            "origin": "configuration" if name in config.knowledge else "knowledge add",
            "description": ": ".join(filter(None, ("searches a knowledge base", described.get(name)))),
        }
        for name in files(config.knowledge, current_folder())
    ]


def _available() -> list[dict[str, Any]]:
    found = SourceRegistry(current_folder(), Threads(), kinds=enfilade_tools()).available()
    return [{"name": tool.spec, "origin": tool.origin, "description": tool.description or None} for tool in found]
