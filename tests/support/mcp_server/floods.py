"""Servers that write without end."""

import json

from tests.support.mcp_server.good import Good, Json


class FloodsLines(Good):
    """Prints rubbish for ever when it is called, and answers in the middle of it."""

    def call_quick(self, message: Json) -> None:
        self.write(b"rubbish, rubbish, rubbish\n" * 5_000)
        self.text(message, "its own")
        while True:
            self.write(b"rubbish, rubbish, rubbish\n" * 1000)


class FloodsOneLine(Good):
    """Prints a line without end."""

    def call_quick(self, message: Json) -> None:
        while True:
            self.write(b"x" * 1024 * 1024)


class FloodsProgress(Good):
    """Tells of every grain of progress."""

    def call_quick(self, message: Json) -> None:
        token = message["params"]["_meta"]["progressToken"]
        for step in range(3000):
            self.send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step}})
        self.text(message, "its own")


class FloodsPings(Good):
    """Asks without end, and reads none of the answers."""

    def call_quick(self, message: Json) -> None:
        ping = json.dumps({"jsonrpc": "2.0", "id": "p" * 1000, "method": "ping"}).encode() + b"\n"
        for _ in range(3000):
            self.write(ping)
        self.text(message, "its own")
