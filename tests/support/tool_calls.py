"""Sets tools up as the host does and calls them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry, ToolLike
from enfilade.tools.functions.threads import Threads
from enfilade.tools.limits import ToolLimits
from enfilade.tools.loader import load_tools
from enfilade.tools.registry import SourceRegistry
from enfilade_sdk.messages import MessageType, TextPayload, ToolInvokeMessage
from enfilade_sdk.prompts import ToolRequest, ToolResult


@asynccontextmanager
async def engine_of(
    *tools: ToolLike | ToolEntry, folder: Path | None = None, limits: ToolLimits | None = None, threads: int = 32
) -> AsyncIterator[ToolEngine]:
    """An engine with these tools, each asked for as on the command line: it has to load."""
    registry = SourceRegistry(folder or Path.cwd(), Threads(threads))
    entries = [tool if isinstance(tool, ToolEntry) else ToolEntry(tool=tool, required=True) for tool in tools]
    engine = await load_tools(entries, registry, limits)
    try:
        yield engine
    finally:
        await engine.aclose()
        registry.close()


@dataclass(frozen=True, slots=True)
class Called:
    """What came of a call."""

    messages: list[ToolInvokeMessage]
    result: ToolResult

    @property
    def text(self) -> str:
        """What the model is told."""
        return self.result.text

    @property
    def shown(self) -> str:
        """The texts that the user is given, joined."""
        return "".join(m.message.text for m in self.messages if isinstance(m.message, TextPayload))

    @property
    def kinds(self) -> list[MessageType]:
        """The types of the messages, in order."""
        return [message.type for message in self.messages]


async def call(engine: ToolEngine, name: str, arguments: str | Mapping[str, Any] = "{}") -> Called:
    """Calls a tool to its end and holds that there is one result, and that it is the last."""
    items = [item async for item in engine.invoke(ToolRequest(name, arguments))]
    assert isinstance(items[-1], ToolResult)
    messages = [item for item in items[:-1] if isinstance(item, ToolInvokeMessage)]
    assert len(messages) == len(items) - 1
    return Called(messages, items[-1])


async def call_once(tool: ToolLike | ToolEntry, arguments: str | Mapping[str, Any] = "{}", **setting: Any) -> Called:
    """Sets one tool up, calls it and puts it away."""
    async with engine_of(tool, **setting) as engine:
        return await call(engine, engine.names[0], arguments)


@dataclass(slots=True)
class ForeignTool:
    """A tool as a server or a document would give it, of whatever schema; it keeps what it was called with."""

    name: str
    schema: object = None
    answers: Sequence[Any] = ("done",)
    description: str = ""
    provider: str = "foreign"
    timeout: float | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)

    async def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
        """Gives its answers, one after the other; an exception among them is raised."""
        self.calls.append(arguments)
        for answer in self.answers:
            if isinstance(answer, BaseException):
                raise answer
            yield answer
