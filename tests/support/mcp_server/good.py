"""A server that does nothing wrong."""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

Json = dict[str, Any]

TINY_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def tool(name: str, **more: Any) -> Json:
    """A tool as a server lists it."""
    return {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object"}} | more


class Good:
    """A server that does nothing wrong; each way to go wrong changes a part of it."""

    listed: ClassVar[list[Any]] = [
        tool("quick"),
        tool("slow"),
        tool("steps"),
        tool("echo", inputSchema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
        tool("environment"),
        tool("refuse"),
        tool("abyss"),
        tool("fail"),
        tool("everything"),
        tool("die"),
    ]
    version = "2025-06-18"

    def __init__(self, record: Path | None) -> None:
        self._record = record
        self._lock = threading.Lock()
        self.tools = list(self.listed)
        self.begin()

    def begin(self) -> None:
        """Called before anything is read."""

    def write(self, data: bytes) -> None:
        """Writes bytes to stdout, at once."""
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def send(self, message: Json) -> None:
        """Sends a message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def answer(self, request: Json, result: Any) -> None:
        """Answers a request."""
        self.send({"id": request["id"], "result": result})

    def text(self, request: Json, text: str) -> None:
        """Answers a call with a text."""
        self.answer(request, {"content": [{"type": "text", "text": text}]})

    def serve(self) -> None:
        """Reads until stdin ends."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if self._record is not None:
                with self._record.open("a") as file:
                    file.write(json.dumps(message) + "\n")
            name = "on_" + message.get("method", "answer").replace("/", "_")
            getattr(self, name, self.on_other)(message)

    def on_other(self, message: Json) -> None:
        """Anything else: requests are refused."""
        if "id" in message and "method" in message:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})

    def on_initialize(self, message: Json) -> None:
        """The handshake."""
        info = {"name": "trial", "version": "1"}
        result = {"protocolVersion": self.version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": info}
        self.answer(message, result)

    def on_tools_list(self, message: Json) -> None:
        """All tools on one page."""
        self.answer(message, {"tools": self.tools})

    def on_tools_call(self, message: Json) -> None:
        """Calls the method of the tool's name."""
        getattr(self, f"call_{message['params']['name']}")(message)

    def call_quick(self, message: Json) -> None:
        """Answers at once."""
        self.text(message, "its own")

    def call_slow(self, message: Json) -> None:
        """Answers late, whether anybody still waits or not."""
        timer = threading.Timer(float(os.environ.get("LATE", "5")), lambda: self.text(message, "late"))
        timer.daemon = True
        timer.start()

    def call_steps(self, message: Json) -> None:
        """Tells of its progress."""
        token = message["params"]["_meta"]["progressToken"]
        for step in (1, 2, 3):
            params = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
            self.send({"method": "notifications/progress", "params": params})
            time.sleep(0.15)
        self.text(message, "three steps")

    def call_echo(self, message: Json) -> None:
        """Gives back its argument."""
        self.text(message, message["params"]["arguments"]["text"])

    def call_environment(self, message: Json) -> None:
        """Gives its variables and its folder."""
        self.answer(message, {"structuredContent": {"environment": dict(os.environ), "folder": str(Path.cwd())}})

    def call_abyss(self, message: Json) -> None:
        """Refuses, with words that go very deep."""
        deep: Any = "down"
        for _ in range(400):
            deep = [deep]
        self.send({"method": "notifications/message", "params": {"level": "info", "data": deep}})
        self.send({"id": message["id"], "error": {"code": -1, "message": "too deep", "data": deep}})

    def call_refuse(self, message: Json) -> None:
        """Refuses with an error of the protocol."""
        self.send({"id": message["id"], "error": {"code": -32602, "message": "no such port: /harbour/oban"}})

    def call_fail(self, message: Json) -> None:
        """Fails, in a result."""
        self.answer(message, {"isError": True, "content": [{"type": "text", "text": "cannot read /srv/tides/oban"}]})

    def call_everything(self, message: Json) -> None:
        """Gives a part of every kind there is, and of one that there is not."""
        resource = {"uri": "file:///tides/chart.pdf", "mimeType": "application/pdf", "blob": "JVBERi0xLjQ="}
        content = [
            {"type": "text", "text": "one"},
            {"type": "text", "text": "two"},
            {"type": "image", "data": TINY_PNG, "mimeType": "image/png"},
            {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "note://1", "text": "embedded"}},
            {"type": "resource", "resource": resource},
            {"type": "resource_link", "uri": "https://tides.example/oban", "name": "Oban", "description": "tide table"},
            {"type": "hologram", "depth": 3},
        ]
        self.answer(message, {"content": content, "structuredContent": {"high": "06:10"}})

    def call_die(self, message: Json) -> None:
        """Ends in the middle of a call."""
        sys.stderr.write("the harbour is on fire\n")
        sys.stderr.flush()
        os._exit(3)
