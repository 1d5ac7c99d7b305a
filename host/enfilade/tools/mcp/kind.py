"""The kind of tool source `mcp`."""

from collections.abc import Callable, Mapping

from enfilade.tools.mcp.process import Processes
from enfilade.tools.mcp.servers import Servers
from enfilade.tools.mcp.settings import McpSettings
from enfilade.tools.mcp.source import McpSource
from enfilade.tools.registry import SourceKind
from enfilade.tools.source import PythonSetting
from enfilade.tools.tool import ToolSource
from enfilade_sdk.errors import InvalidParamsError

NAME = "mcp"
"""The first word of its specs, and the name of its section in the configuration."""


def mcp_kind(processes: Callable[[], Processes]) -> SourceKind:
    """The kind whose specs are `mcp:SERVER` and `mcp:SERVER:TOOL,TOOL`.

    Args:
        processes: Makes what starts programs, once for each host.

    A spec that names no tool behind its second colon is an `InvalidParamsError` when its source is made.
    """

    def source(argument: str, setting: PythonSetting) -> ToolSource:
        name, colon, tools = argument.partition(":")
        chosen = tuple(tool.strip() for tool in tools.split(",") if tool.strip())
        if colon and not chosen:
            raise InvalidParamsError(f"mcp:{argument}: expected the names of tools after the second colon")
        servers = setting.stock.of(
            Servers, lambda: Servers(_servers(setting.sections.get(NAME, {})), setting.folder, processes())
        )
        return McpSource(servers, name.strip(), chosen)

    return SourceKind(NAME, source, "the tools of an MCP server of the configuration", "SERVER")


def _servers(section: Mapping[str, object]) -> dict[str, McpSettings]:
    return {name: found for name, found in section.items() if isinstance(found, McpSettings)}
