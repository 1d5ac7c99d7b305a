"""Asks models in tests and keeps what came."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from enfilade.models.gateway import ModelGateway
from enfilade.models.settings import ModelSettings
from enfilade_sdk.prompts import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    ModelResult,
    PromptMessage,
    PromptTool,
    ToolMessage,
    UserMessage,
)
from tests.support.model_server import ModelServer

WEATHER = PromptTool(
    name="weather",
    description="Tells the weather.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@dataclass
class Answer:
    """Everything one call of a model gave."""

    chunks: list[ModelChunk] = field(default_factory=list)
    results: list[ModelResult] = field(default_factory=list)

    @property
    def result(self) -> ModelResult:
        """The one result."""
        (result,) = self.results
        return result

    @property
    def message(self) -> AssistantMessage:
        """The assembled message."""
        return self.result.message

    @property
    def text(self) -> str:
        """The text as it was shown."""
        return "".join(chunk.text for chunk in self.chunks)

    @property
    def reasoning(self) -> str:
        """The thought as it was shown."""
        return "".join(chunk.reasoning for chunk in self.chunks)

    @property
    def calls(self) -> list[tuple[str, str, Any]]:
        """Id, name and arguments of each call."""
        return [(call.id, call.name, call.parsed) for call in self.message.tool_calls]


async def ask(gateway: ModelGateway, *messages: PromptMessage | str, **request: Any) -> Answer:
    """Asks once; a string is a user's message. Checks that the result comes last."""
    prompt = tuple(UserMessage(content=each) if isinstance(each, str) else each for each in messages or ("Hello?",))
    answer = Answer()
    async for item in gateway.stream(ModelRequest(messages=prompt, **request)):
        assert not answer.results, "something came after the result"
        if isinstance(item, ModelResult):
            answer.results.append(item)
        else:
            answer.chunks.append(item)
    return answer


def answered(answer: Answer, *texts: str) -> list[PromptMessage]:
    """An assistant message and the results of its calls, as the next request holds them."""
    calls = answer.message.tool_calls
    results = [ToolMessage(tool_call_id=call.id, content=text) for call, text in zip(calls, texts, strict=True)]
    return [answer.message, *results]


@asynccontextmanager
async def served(
    turns: Sequence[Any], *, settings: dict[str, Any] | None = None, **server: Any
) -> AsyncGenerator[tuple[ModelServer, ModelGateway], None]:
    """A scripted server and a gateway whose default model, `m`, is behind it."""
    async with ModelServer(turns, **server) as running:
        model = ModelSettings(base_url=running.base_url, **{"max_retries": 0, "timeout": 10.0, **(settings or {})})
        gateway = ModelGateway({"m": model}, "m")
        try:
            yield running, gateway
        finally:
            await gateway.aclose()
