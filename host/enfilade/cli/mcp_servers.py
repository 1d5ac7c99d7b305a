"""MCP servers of the command line: `--mcp COMMAND` or `--mcp URL`."""

import re
import shlex
from collections.abc import Container, Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

from pydantic import ValidationError

from enfilade.cli.usage import CommandLineError
from enfilade.settings.faults import faults_of
from enfilade.tools.mcp.settings import McpSettings

_STARTERS = re.compile(r"(npx|uvx|uv|pipx|bunx|bun|deno|node|python[\d.]*|sh|bash|env|run|exec|tool|-\S*)\Z")
"""Words before the one that says what is started."""

_VERSION = re.compile(r"(?<=.)@[^/]*\Z")


def given_servers(given: Sequence[str], taken: Container[str] = ()) -> dict[str, McpSettings]:
    """The servers of the options, each under a name made of what it is.

    Args:
        given: Commands and addresses.
        taken: Names that servers of the configuration have.

    Raises:
        CommandLineError: One of them is neither a command nor an address.
    """
    servers: dict[str, McpSettings] = {}
    for text in given:
        settings = _settings(text)
        name, number = _name(settings), 2
        free = name
        while free in servers or free in taken:
            free, number = f"{name}-{number}", number + 1
        servers[free] = settings
    return servers


def _settings(text: str) -> McpSettings:
    is_url = text.startswith(("http://", "https://"))
    try:
        return McpSettings(url=text) if is_url else McpSettings(command=text)
    except ValidationError as error:
        raise CommandLineError(faults_of(error, f"--mcp {shlex.quote(text)}", McpSettings)) from None


def _name(settings: McpSettings) -> str:
    if settings.url:
        return urlsplit(settings.url).hostname or "server"
    words = settings.words()
    what = next((word for word in words if not _STARTERS.match(PurePath(word).name)), words[0])
    stem = PurePath(_VERSION.sub("", what)).name
    return re.sub(r"[^\w.-]+", "-", re.sub(r"\.(py|js|mjs|cjs|ts|sh)\Z", "", stem)).strip("-.") or "server"
