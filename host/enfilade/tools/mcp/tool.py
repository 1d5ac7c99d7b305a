"""A tool of an MCP server."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from enfilade.tools.json_value import clean_text
from enfilade.tools.mcp.message import JsonObject
from enfilade.tools.mcp.peer import Progress
from enfilade.tools.mcp.result import messages_of_result
from enfilade.tools.mcp.server import Server
from enfilade_sdk.messages import LogStatus, ToolInvokeMessage, finish_log, log_message, log_of


class McpTool:
    """One tool, as its server describes it.

    Args:
        server: The server.
        described: The server's description of it.
        prefix: What stands before its name, for the model.
        timeout: Seconds one call may take; None for the engine's own limit.
    """

    def __init__(self, server: Server, described: JsonObject, prefix: str = "", timeout: float | None = None) -> None:
        self._server = server
        self._own_name: str = described["name"]
        self.name = prefix + clean_text(self._own_name)
        self.description = _description(described)
        self.schema: object = described.get("inputSchema")
        self.provider = f"mcp:{server.name}"
        self.timeout = timeout
        self.secrets = server.secrets

    async def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
        """Calls it. What the server tells of its progress is one log, brought up to date.

        Raises:
            McpError: The server refused, broke off, or cannot be had.
            ReportedError: The tool says that it failed.
        """
        log: ToolInvokeMessage | None = None
        async with aclosing(self._server.call(self._own_name, arguments)) as items:
            async for item in items:
                if isinstance(item, Progress):
                    log = _news(self.name, item, log)
                    yield log
                    continue
                if log is not None:
                    yield finish_log(log)
                for message in messages_of_result(item):
                    yield message


def _description(described: JsonObject) -> str:
    """What it does; its title where it has no description."""
    annotations = described.get("annotations")
    titles = annotations.get("title") if isinstance(annotations, dict) else None
    words = (described.get("description"), described.get("title"), titles)
    return next((clean_text(word) for word in words if isinstance(word, str) and word.strip()), "")


def _news(tool: str, progress: Progress, log: ToolInvokeMessage | None) -> ToolInvokeMessage:
    data = {"progress": progress.done, "total": progress.total, "message": clean_text(progress.message)[:500]}
    known = {name: value for name, value in data.items() if value not in (None, "")}
    if log is None:
        return log_message(f"progress of {tool}", data=known, status=LogStatus.START)
    return ToolInvokeMessage(type=log.type, message=log_of(log).model_copy(update={"data": known}))
