"""Strategies that do what they are told, on the loop and in a thread; imported by name, here and in guests."""

from collections.abc import AsyncGenerator, Generator
from typing import Any, ClassVar

from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.parameters import AgentStrategyParameter
from enfilade_sdk.session import Session
from enfilade_sdk.strategy import AgentStrategy

ASK = [{"role": "user", "content": "Well?"}]


class _Told(AgentStrategy):
    """Does its `steps`: "ask", or [tool, arguments], or {"say": text}; what fails is said when `brave`."""

    parameters: ClassVar = (
        AgentStrategyParameter(name="query", type="string"),
        AgentStrategyParameter(name="steps", type="any", default=[]),
        AgentStrategyParameter(name="brave", type="boolean", default=False),
        AgentStrategyParameter(name="key", type="secret-input"),
    )


class OnLoop(_Told):
    name = "on-loop"

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncGenerator[Any, None]:
        for step in params["steps"]:
            try:
                if isinstance(step, dict):
                    yield step["say"]
                elif step == "ask":
                    yield (await session.model.invoke(ASK)).message.content or ""
                else:
                    call = session.tools.invoke(step[0], step[1])
                    async for message in call:
                        yield message
                    yield (await call).text
            except EnfiladeError as error:
                if not params["brave"]:
                    raise
                yield f"[{error.code.value}: {error.message}]"


class InThread(_Told):
    name = "in-thread"

    def invoke(self, *, params: dict[str, Any], session: Session) -> Generator[Any, None, None]:
        for step in params["steps"]:
            try:
                if isinstance(step, dict):
                    yield step["say"]
                elif step == "ask":
                    yield session.model.invoke(ASK).result().message.content or ""
                else:
                    call = session.tools.invoke(step[0], step[1])
                    yield from call
                    yield call.result().text
            except EnfiladeError as error:
                if not params["brave"]:
                    raise
                yield f"[{error.code.value}: {error.message}]"
