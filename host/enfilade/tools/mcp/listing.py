"""Reads the whole list of a server's tools, page by page."""

import logging
from collections import Counter

from enfilade.tools.json_value import clean_text
from enfilade.tools.mcp.failure import McpRefusal
from enfilade.tools.mcp.message import METHOD_NOT_FOUND, JsonObject
from enfilade.tools.mcp.peer import Peer

MOST_TOOLS = 5_000
"""Tools of one server; a list that goes on is cut there."""

MOST_PAGES = 500
"""Pages of one list."""

_log = logging.getLogger(__name__)


async def list_tools(server: str, peer: Peer) -> list[JsonObject]:
    """The tools, each as the server describes it, no two of one name.

    A cursor that comes again ends the list, since what follows it was read already. What is no tool, or has no name,
    is left out; so are tools that can only be run as tasks, which this client does not follow. All of this is logged.

    Raises:
        McpError: The server refused, or has broken off.
    """
    found = _Found()
    cursors: set[str] = set()
    params: JsonObject = {}
    while True:
        page = await _page(peer, params)
        found.add(page.get("tools"))
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            break
        if cursor in cursors:
            found.faults[f"its cursor {clean_text(cursor)[:100]!r} came twice, so the list ends there"] += 1
            break
        if len(cursors) >= MOST_PAGES or len(found.tools) > MOST_TOOLS:
            found.faults["it has no end, so the rest of it is left out"] += 1
            break
        cursors.add(cursor)
        params = {"cursor": cursor}
    for fault, times in found.faults.items():
        more = f" ({times} times)" if times > 1 else ""
        _log.warning("the tool list of the MCP server %r: %s%s", server, fault, more)
    return list(found.tools.values())[:MOST_TOOLS]


async def _page(peer: Peer, params: JsonObject) -> JsonObject:
    try:
        return await peer.ask("tools/list", params)
    except McpRefusal as refusal:
        if refusal.number == METHOD_NOT_FOUND:
            return {}  # a server that has only prompts or resources
        raise


class _Found:
    """The tools read so far, and what is wrong with the list, with how often."""

    def __init__(self) -> None:
        self.tools: dict[str, JsonObject] = {}
        self.faults: Counter[str] = Counter()

    def add(self, page: object) -> None:
        """Takes in the tools of a page."""
        if not isinstance(page, list):
            if page is not None:
                self.faults["a page holds something else than a list"] += 1
            return
        for tool in page:
            if fault := self._fault(tool):
                self.faults[fault] += 1
            else:
                self.tools[clean_text(tool["name"])] = tool

    def _fault(self, tool: object) -> str:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or not tool["name"]:
            return "an entry is no tool with a name; it is left out"
        name = clean_text(tool["name"])
        if name in self.tools:
            return f"the tool {name!r} is there twice; the first one counts"
        execution = tool.get("execution")
        if isinstance(execution, dict) and execution.get("taskSupport") == "required":
            return f"the tool {name!r} runs only as a task, which is not done here; it is left out"
        return ""
