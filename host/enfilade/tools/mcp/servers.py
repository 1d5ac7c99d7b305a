"""The MCP servers of a host, each running once however many agents use it."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from enfilade.tools.mcp.http import HttpTransport
from enfilade.tools.mcp.process import Processes, ProcessSpec
from enfilade.tools.mcp.server import Server
from enfilade.tools.mcp.settings import McpSettings
from enfilade.tools.mcp.stdio import StdioTransport
from enfilade.tools.mcp.transport import Transport
from enfilade.tools.names import did_you_mean
from enfilade_sdk.errors import ToolNotFoundError


class Servers:
    """Starts servers for whoever acquires them, and stops those that nobody uses any more.

    Args:
        settings: The servers of the configuration.
        folder: Where relative folders start.
        processes: Starts programs.
    """

    def __init__(self, settings: Mapping[str, McpSettings], folder: Path, processes: Processes) -> None:
        self._settings = dict(settings)
        self._folder = folder
        self._processes = processes
        self._servers: dict[str, Server] = {}
        self._stopping = 0
        self._users: Counter[Server] = Counter()

    def settings_of(self, name: str) -> McpSettings:
        """The settings of a server.

        Raises:
            ToolNotFoundError: There is none of that name; the text names near matches.
        """
        if name not in self._settings:
            known = f" There are: {', '.join(self._settings)}." if self._settings else ""
            meant = did_you_mean(name, self._settings) or known
            raise ToolNotFoundError(f"there is no MCP server {name!r} in the configuration ([mcp.{name}]).{meant}")
        return self._settings[name]

    def acquire(self, name: str) -> Server:
        """The server of that name; it starts when it is first asked something."""
        if name not in self._servers:
            settings = self.settings_of(name)
            self._servers[name] = Server(
                name, settings.start_timeout, lambda: self._transport(name, settings), settings.secrets()
            )
        self._users[self._servers[name]] += 1
        return self._servers[name]

    async def release(self, server: Server) -> None:
        """Says that one who acquired it needs it no more."""
        self._users[server] -= 1
        if self._users[server] > 0:
            return
        del self._users[server]
        if self._servers.get(server.name) is server:
            del self._servers[server.name]
        self._stopping += 1
        try:
            await server.stop()
        finally:
            self._stopping -= 1
        if not self._servers and not self._stopping:
            await self._processes.close()

    def _transport(self, name: str, settings: McpSettings) -> Transport:
        if settings.url:
            return HttpTransport(name, settings.url, settings.headers(), settings.secrets())
        spec = ProcessSpec(
            log_name=f"mcp.{name}",
            command=settings.words(),
            folder=self._folder / (settings.cwd or Path()).expanduser(),
            environment=settings.environment(),
            secrets=settings.secrets(),
        )
        return StdioTransport(name, spec, self._processes)
