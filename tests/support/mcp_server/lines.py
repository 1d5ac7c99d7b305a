"""Servers that write their lines otherwise than they should, or write other things between them."""

import json
import os
import sys
import time

from tests.support.mcp_server.good import Good, Json


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
