"""Servers of other versions of the protocol."""

import json

from tests.support.mcp_server.good import Good, Json


class OldVersion(Good):
    """Speaks a version that nobody knows."""

    version = "1999-12-31"


class Stateless(Good):
    """Knows nothing of `initialize`; every request has to say itself who asks."""

    def on_initialize(self, message: Json) -> None:
        data = {"supported": ["2026-07-28"], "requested": message["params"]["protocolVersion"]}
        self.send(
            {"id": message["id"], "error": {"code": -32022, "message": "Unsupported protocol version", "data": data}}
        )

    def on_server_discover(self, message: Json) -> None:
        """Says what it is."""
        capabilities = {"tools": {"listChanged": True}}
        self.answer(
            message, {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete"}
        )

    def on_subscriptions_listen(self, message: Json) -> None:
        """Tells at once of a change, and goes on listening."""
        self.send({"method": "notifications/tools/list_changed", "params": {}})

    def on_tools_call(self, message: Json) -> None:
        if message["params"]["name"] == "echo":
            self.answer(message, {"resultType": "input_required", "inputRequests": {}})
        else:
            self.text(message, json.dumps(message["params"]["_meta"]))


class FutureOnly(Stateless):
    """Speaks only a version of times to come."""

    def on_server_discover(self, message: Json) -> None:
        self.answer(message, {"supportedVersions": ["2099-01-01"], "capabilities": {}})
