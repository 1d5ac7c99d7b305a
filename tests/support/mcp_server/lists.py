"""Servers whose lists of tools are odd, or change."""

from typing import Any, ClassVar

from tests.support.mcp_server.good import Good, Json, tool


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


class Changes(Good):
    """Has another tool after each call, and says so."""

    def call_quick(self, message: Json) -> None:
        self.tools = [*self.tools, tool(f"extra_{len(self.tools)}")]
        self.send({"method": "notifications/tools/list_changed"})
        self.text(message, "changed")


class Documented(Good):
    """Has the tools that the documents speak of."""

    listed: ClassVar[list[Any]] = [tool("list_directory"), tool("read_text_file"), tool("echo")]

    def on_tools_call(self, message: Json) -> None:
        self.text(message, "tides.pdf")


class NoTools(Good):
    """Has prompts and no tools."""

    def on_tools_list(self, message: Json) -> None:
        self.on_other(message)
