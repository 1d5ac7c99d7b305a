"""An MCP server without any library, on stdin and stdout, that goes wrong in the way it is told.

`python mcp_server.py WAY [RECORD]`; what it is sent goes to the file RECORD, a message a line. WAYS has the ways.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
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


class Pages(Good):
    """Two pages, the second with an empty cursor."""

    pages: ClassVar[dict[str | None, tuple[list[str], str]]] = {
        None: (["t01", "t02", "t03"], "p2"),
        "p2": (["t04", "t05"], ""),
    }

    def on_tools_list(self, message: Json) -> None:
        names, cursor = self.pages[message.get("params", {}).get("cursor")]
        self.answer(message, {"tools": [tool(name) for name in names], "nextCursor": cursor})

    def on_tools_call(self, message: Json) -> None:
        self.text(message, f"{message['params']['name']} was called")


class SameCursor(Pages):
    """A cursor that leads to itself."""

    pages: ClassVar[dict[str | None, tuple[list[str], str]]] = {None: (["t01"], "same"), "same": (["t01"], "same")}


class EndlessPages(Pages):
    """Ever new cursors."""

    def on_tools_list(self, message: Json) -> None:
        number = int(message.get("params", {}).get("cursor", "0"))
        tools = [tool(f"t{number}_{place}") for place in range(100)]
        self.answer(message, {"tools": tools, "nextCursor": str(number + 1)})


class OddList(Good):
    """A list in which little is as it should be."""

    listed: ClassVar[list[Any]] = [
        {"name": "bare"},
        tool("null", inputSchema=None),
        tool("untyped", inputSchema={"properties": {"n": {"type": "integer"}}}, annotations={"readOnlyHint": "yes"}),
        tool("choice", inputSchema={"type": "object", "anyOf": [{"properties": {"a": {"type": "string"}}}]}),
        tool("impossible", inputSchema="an object"),
        tool("task", execution={"taskSupport": "required"}),
        tool("bare"),
        {"description": "has no name"},
        "a text",
        {"name": "titled", "title": "Reads the tide", "inputSchema": {"type": "object"}},
    ]

    def on_tools_call(self, message: Json) -> None:
        self.answer(message, ["not", "a result"] if message["params"]["name"] == "bare" else {"content": "a text"})


class Banners(Good):
    """Prints what is no message between its messages."""

    def begin(self) -> None:
        self.write("harbour-tools build 7 starting\n\n★ listening\n".encode())
        self.write(b'{"level": "info", "msg": "json log, not rpc"}\n')

    def on_tools_list(self, message: Json) -> None:
        self.write(b"debug: listing\n")
        super().on_tools_list(message)


class ManyBanners(Good):
    """Prints more than anybody wants to read."""

    def begin(self) -> None:
        self.write(b"".join(b"banner %d\n" % number for number in range(1000)))


class Pieces(Good):
    """Writes each answer in pieces."""

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), 20):
            super().write(data[start : start + 20])
            time.sleep(0.001)


class TwoInOne(Good):
    """Holds the answer of the first call back and writes it with that of the second."""

    held = b""

    def write(self, data: bytes) -> None:
        if b"its own" in data and not self.held:
            self.held = data
        else:
            super().write(self.held + data)
            self.held = b""


class Batch(Good):
    """Puts its answer into a list, as versions of 2025-03-26 may."""

    def call_quick(self, message: Json) -> None:
        result = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "batched"}]}}
        self.write(json.dumps([{"jsonrpc": "2.0", "method": "notifications/other"}, result]).encode() + b"\n")


class LongLine(Good):
    """Answers with a line of more than 2 MiB."""

    def call_quick(self, message: Json) -> None:
        self.text(message, "x" * 2 * 1024 * 1024)


class NotUtf8(Good):
    """Answers in Latin-1, with a carriage return at the line's end."""

    def call_quick(self, message: Json) -> None:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "für"}]}}
        self.write(b"\xff\xfe rubbish\r\n" + json.dumps(answer, ensure_ascii=False).encode("latin-1") + b"\r\n")


class Liar(Good):
    """Lies about ids before it tells the truth."""

    def call_quick(self, message: Json) -> None:
        for wrong in (message["id"] + 1, -1, None, True, [message["id"]], "x", message["id"] + 10**30):
            self.send({"id": wrong, "result": {"content": [{"type": "text", "text": "a lie"}]}})
        self.send({"id": None, "error": {"code": -32700, "message": "a lie"}})
        self.send({"id": str(message["id"]), "result": {"content": [{"type": "text", "text": "its own"}]}})
        self.send({"id": message["id"], "result": {"content": [{"type": "text", "text": "a second answer"}]}})


class DiesAtStart(Good):
    """Ends before it says anything."""

    def begin(self) -> None:
        sys.stderr.write("no licence for this harbour\n")
        sys.exit(2)


class DiesOnce(Good):
    """Dies in its first call; started again, it lives and has another tool."""

    def begin(self) -> None:
        assert self._record is not None
        if self._record.exists():
            self.tools = [*self.tools, tool("second_life")]

    def call_quick(self, message: Json) -> None:
        if any(one["name"] == "second_life" for one in self.tools):
            self.text(message, "alive again")
        else:
            self.call_die(message)


class ClosesStdout(Good):
    """Lives on, but can say nothing any more."""

    def call_quick(self, message: Json) -> None:
        os.close(1)
        time.sleep(60)


class Hangs(Good):
    """Never answers."""

    def serve(self) -> None:
        sys.stderr.write("waiting for the tide\n")
        sys.stderr.flush()
        if self._record is not None:
            self._record.touch()
        time.sleep(600)


class Stubborn(Good):
    """Ignores the end of stdin and SIGTERM, and has a child that has left its process group."""

    def begin(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)

    def call_quick(self, message: Json) -> None:
        self.text(message, f"{os.getpid()} {self._child.pid}")

    def serve(self) -> None:
        super().serve()
        time.sleep(600)


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


class ReadsNothing(Good):
    """Stops reading after the list."""

    def on_tools_list(self, message: Json) -> None:
        super().on_tools_list(message)
        time.sleep(600)


class Changes(Good):
    """Has another tool after each call, and says so."""

    def call_quick(self, message: Json) -> None:
        self.tools = [*self.tools, tool(f"extra_{len(self.tools)}")]
        self.send({"method": "notifications/tools/list_changed"})
        self.text(message, "changed")


class Asks(Good):
    """Asks its client before it answers."""

    def call_quick(self, message: Json) -> None:
        self._waiting = message
        self.answers: list[Json] = []
        self.send({"id": "a", "method": "ping"})
        self.send({"id": "b", "method": "sampling/createMessage", "params": {}})
        self.send({"method": "notifications/message", "params": {"level": "info", "data": {"tide": "rising"}}})

    def on_answer(self, message: Json) -> None:
        self.answers.append({k: v for k, v in message.items() if k != "jsonrpc"})
        if len(self.answers) == 2:
            self.text(self._waiting, json.dumps(self.answers))


class TellsSecrets(Good):
    """Prints the secret it was given, wherever it can."""

    def call_quick(self, message: Json) -> None:
        secret = os.environ["HARBOUR_PASS"]
        sys.stderr.write(f"using {secret}\n")
        sys.stderr.flush()
        self.write(f"banner {secret}\n".encode())
        self.send({"id": message["id"], "error": {"code": -1, "message": f"wrong password {secret}"}})


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


class Documented(Good):
    """Has the tools that the documents speak of."""

    listed: ClassVar[list[Any]] = [tool("list_directory"), tool("read_text_file"), tool("echo")]

    def on_tools_call(self, message: Json) -> None:
        self.text(message, "tides.pdf")


class NoTools(Good):
    """Has prompts and no tools."""

    def on_tools_list(self, message: Json) -> None:
        self.on_other(message)


def _ways(root: type[Good]) -> dict[str, Callable[[Path | None], Good]]:
    found: dict[str, Callable[[Path | None], Good]] = {root.__name__: root}
    for child in root.__subclasses__():
        found |= _ways(child)
    return found


WAYS = _ways(Good)

if __name__ == "__main__":
    WAYS[sys.argv[1]](Path(sys.argv[2]) if len(sys.argv) > 2 else None).serve()
