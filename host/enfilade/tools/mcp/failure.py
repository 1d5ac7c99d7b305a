"""What goes wrong with an MCP server."""

from typing import Any

from enfilade.tools.fault import ReportedError, masked
from enfilade.tools.json_value import clean_text
from enfilade.tools.mcp.message import JsonObject, shown
from enfilade_sdk.errors import EnfiladeError, ErrorCode

_MOST_MESSAGE = 2_000
_MOST_DATA = 500


class McpError(EnfiladeError):
    """A server cannot be had, or has broken off; the text names it and says why."""

    code = ErrorCode.TOOL_FAILED


class SessionGoneError(McpError):
    """A server behind HTTP knows the session no more; the request was not carried out."""


class McpRefusal(McpError, ReportedError):  # noqa: N818 - the server's answer, named for what it is
    """A server answered a request with an error.

    Attributes:
        number: The error's code in JSON-RPC.
        data: What else it says.
    """

    def __init__(self, server: str, error: JsonObject, secrets: frozenset[str] = frozenset()) -> None:
        code = error.get("code")
        self.number = code if isinstance(code, int) else 0
        self.data: Any = error.get("data")
        words = error.get("message")
        text = clean_text(words)[:_MOST_MESSAGE] if isinstance(words, str) and words.strip() else "no reason given"
        more = f" {shown(self.data, _MOST_DATA)}" if self.data not in (None, "", {}, []) else ""
        super().__init__(f"the MCP server {server!r} refused: {masked(f'{text} (error {self.number}){more}', secrets)}")
