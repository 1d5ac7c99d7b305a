"""Comes to terms with a server: which version of the protocol is spoken, and what the server has.

Versions up to 2025-11-25 begin with `initialize`. From 2026-07-28 on there is no beginning: the server answers
`server/discover`, and every request says itself who asks. A server is first asked in the older way, which all but the
newest understand, and in the newer one when it refuses that.
"""

import logging
from dataclasses import dataclass

from importlib_metadata import PackageNotFoundError, version

from enfilade.tools.json_value import clean_text
from enfilade.tools.mcp.failure import McpError, McpRefusal
from enfilade.tools.mcp.message import JsonObject
from enfilade.tools.mcp.peer import Peer
from enfilade.tools.mcp.transport import Transport

LATEST = "2025-11-25"
"""The newest version that begins with `initialize`."""

STATELESS = "2026-07-28"
"""The version without a beginning."""

KNOWN = ("2024-11-05", "2025-03-26", "2025-06-18", LATEST, STATELESS)

_META = "io.modelcontextprotocol/"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a server and its client have agreed on.

    Attributes:
        version: The version of the protocol.
        stateless: Whether it is one without a beginning.
        tells_changes: Whether the server tells when its tools change.
    """

    version: str
    stateless: bool
    tells_changes: bool


async def shake_hands(server: str, peer: Peer, transport: Transport) -> Agreement:
    """Begins to speak with a server.

    Raises:
        McpError: It cannot be spoken with.
    """
    try:
        result = await peer.ask("initialize", _introduction(), cancellable=False)
    except McpRefusal as refusal:
        return await _discovered(server, peer, transport, refusal)
    agreement = Agreement(_version(server, result), stateless=False, tells_changes=_tells_changes(result))
    await transport.agreed(agreement.version, stateless=False)
    peer.tell("notifications/initialized")
    return agreement


async def _discovered(server: str, peer: Peer, transport: Transport, refusal: McpRefusal) -> Agreement:
    peer.meta = {
        f"{_META}protocolVersion": STATELESS,
        f"{_META}clientInfo": _client(),
        f"{_META}clientCapabilities": {},
    }
    await transport.agreed(STATELESS, stateless=True)
    try:
        result = await peer.ask("server/discover", cancellable=False)
    except McpRefusal:
        raise refusal from None  # what it said first is what is wrong with it
    offered = result.get("supportedVersions")
    if isinstance(offered, list) and STATELESS not in offered:
        shown = ", ".join(str(one)[:40] for one in offered[:10]) or "none"
        raise McpError(f"the MCP server {server!r} speaks the versions {shown}; known here are {', '.join(KNOWN)}")
    return Agreement(STATELESS, stateless=True, tells_changes=_tells_changes(result))


def _introduction() -> JsonObject:
    return {"protocolVersion": LATEST, "capabilities": {}, "clientInfo": _client()}


def _client() -> JsonObject:
    try:
        return {"name": "enfilade", "version": version("enfilade")}
    except PackageNotFoundError:  # run from a folder that was never installed
        return {"name": "enfilade", "version": "0"}


def _version(server: str, result: JsonObject) -> str:
    chosen = result.get("protocolVersion")
    if isinstance(chosen, str) and chosen in KNOWN:
        return chosen
    shown = clean_text(chosen)[:40] if isinstance(chosen, str) else None
    _log.warning("the MCP server %r speaks version %r of the protocol, which is not known here", server, shown)
    return shown if shown and shown.isascii() and shown.isprintable() else LATEST


def _tells_changes(result: JsonObject) -> bool:
    capabilities = result.get("capabilities")
    tools = capabilities.get("tools") if isinstance(capabilities, dict) else None
    return isinstance(tools, dict) and tools.get("listChanged") is True
