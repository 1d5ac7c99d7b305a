import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, ClassVar

import pytest

from enfilade_fc.strategy import FunctionCallingStrategy
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.messages import ToolInvokeMessage, finish_log, log_message
from enfilade_sdk.parameters import AgentStrategyParameter
from enfilade_sdk.rounds import limit_reached
from enfilade_sdk.session import Session
from enfilade_sdk.strategy import AgentStrategy
from enfilade_sdk.testing import ConformanceError, conformance


class Sdk(AgentStrategy):
    """Async, with the SDK's class: asks, calls, answers."""

    name = "sdk"
    parameters = (
        AgentStrategyParameter.model_validate({"name": "query", "type": "string", "required": True}),
        AgentStrategyParameter.model_validate({"name": "least", "type": "number", "required": True, "min": 2.5}),
        AgentStrategyParameter.model_validate({"name": "key", "type": "secret-input", "required": True}),
    )

    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[ToolInvokeMessage | str]:
        prompt: list[Any] = [{"role": "user", "content": params["query"]}]
        for _ in range(3):
            log = self.create_log_message("round")
            yield log
            call = session.model.invoke(prompt, tools=session.tools.list())
            async for chunk in call:
                if chunk.text:
                    yield chunk.text
            message = (await call).message
            prompt.append(message)
            for asked in message.tool_calls:
                try:
                    text = (await session.tools.invoke(asked.name, asked.arguments, call_id=asked.id)).text
                except EnfiladeError as error:
                    text = error.message
                prompt.append({"role": "tool", "tool_call_id": asked.id, "content": text})
            yield self.finish_log_message(log)
            if not message.tool_calls:
                return


class Plain:
    """A generator without the SDK's class, in the text form of agents."""

    def get_parameters(self) -> list[dict[str, Any]]:
        return [{"name": "style", "type": "select", "options": ["a", "b"], "required": True}]

    def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:
        menu = {tool.name: tool for tool in session.tools.list()}
        prompt = f"Tools: {', '.join(menu)}. Write 'Action: {{...}}' or 'Final Answer: ...'.\n{params['query']}"
        for _ in range(3):
            text = ""
            for chunk in session.model.invoke([{"role": "user", "content": prompt}]):
                text += chunk.text
            action = text.partition("Action: ")[2]
            if not action:
                yield text.rpartition("Final Answer: ")[2]
                return
            for name in menu:
                result = session.tools.invoke(name, '{"text": "x"}').result()
                yield f"[{name}]"
                prompt += f"\n{text}Observation: {result.text}"
        yield "no answer"


class TwoLines(Plain):
    """The text form with the action's input on a line of its own."""

    def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:
        names = [tool.name for tool in session.tools.list()]
        prompt = (
            f"Tools: {names}. Write 'Action: NAME', 'Action Input: {{...}}' or 'Final Answer: ...'.\n{params['query']}"
        )
        for _ in range(3):
            text = session.model.invoke([{"role": "user", "content": prompt}]).result().message.content
            if "Action: " not in text:
                yield text.rpartition("Final Answer: ")[2]
                return
            name = text.partition("Action: ")[2].partition("\n")[0]
            result = session.tools.invoke(name, text.partition("Action Input: ")[2]).result()
            assert not result.is_error or "probe" in result.text
            prompt += f"\n{text}Observation: {result.text}"
        raise limit_reached(3)


class Echo:
    """Uses no model and no tool."""

    def get_parameters(self) -> list[dict[str, Any]]:
        return []

    def invoke(self, params: dict[str, Any]) -> Iterator[str]:
        yield from params["query"]


GOOD = [Sdk, Plain, TwoLines, Echo, FunctionCallingStrategy]


@pytest.mark.parametrize("strategy", GOOD)
@pytest.mark.parametrize("examine", conformance.CHECKS)
def test_a_good_strategy_passes_every_check(strategy: type, examine: Callable[..., None]) -> None:
    examine(strategy)


def test_a_good_strategy_passes_all_checks_at_once_as_class_and_as_object() -> None:
    conformance.check(Sdk)
    conformance.check(Plain())


def test_checks_are_named_so_that_pytest_can_show_them() -> None:
    names = [examine.__name__ for examine in conformance.CHECKS]
    assert len(set(names)) == len(names)
    assert all(examine.__doc__ for examine in conformance.CHECKS)


class NoInvoke:
    def get_parameters(self) -> list[dict[str, Any]]:
        return []


class WrongKeyword(Echo):
    def invoke(self, params: dict[str, Any], temperature: float) -> Iterator[str]:  # type: ignore[override]  # at fault
        yield "x"


class ChangingParameters(Echo):
    def __init__(self) -> None:
        self.count = 0

    def get_parameters(self) -> list[dict[str, Any]]:
        self.count += 1
        return [{"name": f"p{self.count}", "type": "string"}]


class OddDescription(Echo):
    output_schema: ClassVar[dict[str, Any]] = {"type": ("object", "null")}


class YieldsANumber(Echo):
    def invoke(self, params: dict[str, Any]) -> Iterator[Any]:
        yield 5


class CrashesWithoutTools(Plain):
    def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:
        yield session.tools.list()[0].name


class SendsPythonObjects(Echo):
    def invoke(self, params: dict[str, Any]) -> Iterator[Any]:
        yield {"type": "json", "message": {"json_object": {"when": (1, 2)}}}


class NeverFinishesLogs(Echo):
    def invoke(self, params: dict[str, Any]) -> Iterator[Any]:
        yield log_message("begun")


class FinishesTwice(Echo):
    def invoke(self, params: dict[str, Any]) -> Iterator[Any]:
        log = log_message("begun")
        yield from (log, finish_log(log), finish_log(log, error="or not"))


class LostParent(Echo):
    def invoke(self, params: dict[str, Any]) -> Iterator[Any]:
        log = log_message("begun", parent=log_message("never sent"))
        yield from (log, finish_log(log))


class AsksForMore(Echo):
    def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:  # type: ignore[override]  # at fault
        try:
            session.model.invoke([], model="bigger").result()
        except EnfiladeError:
            yield "no"


class CannotBearFailures(Plain):
    """Takes a failed tool, and a tool that is not there, for its own end."""

    def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:
        tools = session.tools.list()
        reply = session.model.invoke([{"role": "user", "content": params["query"]}], tools=tools).result()
        for asked in reply.message.tool_calls:
            result = session.tools.invoke(asked.name, asked.arguments).result()
            if result.is_error:
                raise RuntimeError(result.text)
            yield result.text
        yield "done"


class CrashesWithTheModel(Echo):
    def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:  # type: ignore[override]  # at fault
        try:
            yield session.model.invoke([{"role": "user", "content": "x"}]).result().message.content or ""
        except EnfiladeError as error:
            raise ValueError("unexpected") from error


RELEASE = threading.Event()


class DeafWhileWaiting(Echo):
    def invoke(self, params: dict[str, Any], session: Any) -> Iterator[Any]:  # type: ignore[override]  # at fault
        try:
            session.model.invoke([{"role": "user", "content": "x"}]).result()
        except EnfiladeError:
            RELEASE.wait(30)
        yield "done"


class SwallowsTheStop(Echo):
    def invoke(self, params: dict[str, Any]) -> Iterator[str]:
        for word in ("a", "b", "c"):
            with contextlib.suppress(Exception):
                yield word


class SwallowsGeneratorExit(Echo):
    def invoke(self, params: dict[str, Any]) -> Iterator[str]:
        yield "a"
        try:
            yield "b"
        except GeneratorExit:
            yield "c"


class SwallowsGeneratorExitAsync(Echo):
    async def invoke(self, params: dict[str, Any]) -> AsyncIterator[str]:  # type: ignore[override]  # async on purpose
        yield "a"
        try:
            yield "b"
        finally:
            yield "c"


class SwallowsTheCancelAsync(Echo):
    async def invoke(self, params: dict[str, Any]) -> AsyncIterator[str]:  # type: ignore[override]  # async on purpose
        with contextlib.suppress(asyncio.CancelledError):
            yield "a"
        yield "b"


class KeepsTheQuestion(Echo):
    asked: ClassVar[list[str]] = []

    def invoke(self, params: dict[str, Any]) -> Iterator[str]:
        self.asked.append(params["query"])
        for _ in range(3):
            yield self.asked[-1]


class Prints(Echo):
    def invoke(self, params: dict[str, Any]) -> Iterator[str]:
        print("so far so good")
        yield "x"


BAD: list[tuple[type, Callable[..., None], str]] = [
    (NoInvoke, conformance.is_admitted, "expected a method invoke"),
    (WrongKeyword, conformance.is_admitted, "invoke requires the keyword 'temperature'"),
    (ChangingParameters, conformance.declares_the_same_parameters_each_time, "gave different parameters"),
    (OddDescription, conformance.describes_itself_over_the_wire, "expected a description of JSON values"),
    (YieldsANumber, conformance.yields_only_valid_messages, "a strategy yielded an int"),
    (CrashesWithoutTools, conformance.works_without_tools, "IndexError"),
    (SendsPythonObjects, conformance.works_over_the_wire, "expected messages of JSON values"),
    (NeverFinishesLogs, conformance.ends_each_log_once, "these logs were opened and never finished: 'begun'"),
    (FinishesTwice, conformance.ends_each_log_once, "the log 'begun' was written again after it had ended"),
    (LostParent, conformance.ends_each_log_once, "the log 'begun' has a parent that was never written"),
    (AsksForMore, conformance.calls_only_what_it_was_granted, "it called what the run was not given: model bigger"),
    (CannotBearFailures, conformance.survives_a_failing_tool, "a tool failed: expected the run to go on"),
    (CannotBearFailures, conformance.survives_an_unknown_tool, "there is not a tool named no_such_tool"),
    (CrashesWithTheModel, conformance.survives_a_failing_model, "ValueError: unexpected"),
    (SwallowsTheStop, conformance.stops_at_every_yield, "after RunCancelled was raised at its yield"),
    (SwallowsGeneratorExit, conformance.stops_at_every_yield, "ignored GeneratorExit"),
    (SwallowsGeneratorExitAsync, conformance.stops_at_every_yield, "ignored GeneratorExit"),
    (SwallowsTheCancelAsync, conformance.stops_at_every_yield, "after CancelledError was raised at its yield"),
    (KeepsTheQuestion, conformance.keeps_runs_apart, "has something of the run"),
    (Prints, conformance.prints_nothing, "it printed 'so far so good"),
]


@pytest.mark.parametrize(("strategy", "examine", "reason"), BAD)
def test_a_strategy_at_fault_is_found_out_and_told_why(
    strategy: type, examine: Callable[..., None], reason: str
) -> None:
    with pytest.raises(AssertionError) as caught:
        examine(strategy)
    assert reason in str(caught.value)


def test_a_strategy_that_is_deaf_to_cancelling_is_found_out_within_the_bound() -> None:
    try:
        with pytest.raises(AssertionError, match="expected a run that stops when it was cancelled while it waited"):
            conformance.stops_when_cancelled(DeafWhileWaiting, seconds=0.1, grace=0.2)
    finally:
        RELEASE.set()


def test_runs_that_wait_for_each_other_are_found_out_within_the_bound() -> None:
    class OneAtATime(Echo):
        lock = asyncio.Lock()

        async def invoke(self, params: dict[str, Any]) -> AsyncIterator[str]:  # type: ignore[override]  # on purpose
            async with self.lock:
                yield "a"
                yield "b"

    with pytest.raises(ConformanceError, match="expected two runs at a time to succeed, but one failed: deadline"):
        conformance.keeps_runs_apart(OneAtATime, seconds=0.1)


def test_all_that_is_wrong_is_told_at_once() -> None:
    class Hopeless(Echo):
        def invoke(self, params: dict[str, Any]) -> Iterator[Any]:
            print("hello")
            yield log_message("begun")

    with pytest.raises(ConformanceError) as caught:
        conformance.check(Hopeless)
    text = str(caught.value)
    assert text.startswith("Hopeless fails 2 of ")
    assert "- ends_each_log_once: these logs were opened" in text
    assert "- prints_nothing: it printed 'hello" in text


def test_params_that_do_not_fit_are_told_as_such() -> None:
    with pytest.raises(ConformanceError, match="the params given to this check do not fit"):
        conformance.declares_the_same_parameters_each_time(Plain, params={"style": "c"})


def test_the_kit_imports_neither_pytest_nor_grpc() -> None:
    code = (
        "import sys, enfilade_sdk.testing.conformance; sys.exit(bool({'pytest', '_pytest', 'grpc'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
