"""Python functions as tools: plain, async, generators of either kind."""

import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any

from enfilade.tools.functions.docstring import documentation_of
from enfilade.tools.functions.signature import Signature, SignatureError
from enfilade.tools.functions.threads import Lent, Threads
from enfilade.tools.output import messages_of
from enfilade.tools.schemas.keywords import Schema
from enfilade_sdk.errors import ToolFailedError
from enfilade_sdk.messages import ToolInvokeMessage

_END = object()


class FunctionTool:
    """A function that a model can call; its signature and docstring say how.

    A plain function runs in a thread, one with `async` on the loop. It gives a value, or yields several; see
    `messages_of` for what becomes of them.

    Args:
        function: The function, or any object that can be called.
        threads: Lends threads to functions that may block.
        name: The tool's name; the function's own by default.
        description: Words for the model; the docstring's by default.
        provider: Where it comes from.
        timeout: Seconds one call may take; None for the engine's own limit.

    Raises:
        SignatureError: A model could not call it; the text says why.
    """

    def __init__(
        self,
        function: Callable[..., object],
        threads: Threads,
        *,
        name: str | None = None,
        description: str | None = None,
        provider: str = "python",
        timeout: float | None = None,
    ) -> None:
        self.name = name or function_name(function)
        documentation = documentation_of(_docstring(function))
        self.description = documentation.text if description is None else description
        self.provider = provider
        self.timeout = timeout
        self._function = function
        self._threads = threads
        self._signature = Signature(function, self.name, documentation)
        self._on_loop = _is_async(function)

    @property
    def schema(self) -> Schema:
        """JSON Schema of the parameters."""
        return self._signature.schema

    async def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
        """Calls the function.

        Raises:
            ArgumentsError: A type that JSON Schema cannot describe refused a value.
            Exception: Whatever the function raises.
        """
        call = self._signature.call(arguments)
        step = functools.partial(self._function, *call.args, **call.kwargs)
        values = self._values_on_loop(step()) if self._on_loop else self._values_in_thread(step)
        async with aclosing(values):
            async for value in values:
                for message in messages_of(value):
                    yield message

    async def _values_in_thread(self, step: Callable[[], object]) -> AsyncGenerator[object, None]:
        thread = await self._threads.lend(self.name)
        last: Callable[[], object] = _nothing
        try:
            value = await thread.run(step)
            if inspect.isgenerator(value):
                last = value.close
                async for part in _each(thread, value):
                    yield part
            elif inspect.isawaitable(value) or inspect.isasyncgen(value):
                async with aclosing(self._values_on_loop(value)) as values:
                    async for part in values:
                        yield part
            else:
                yield value
        finally:
            thread.give_back(last)

    async def _values_on_loop(self, value: Any) -> AsyncGenerator[object, None]:
        if inspect.isasyncgen(value):
            async with aclosing(value):
                async for part in value:
                    yield part
        elif inspect.isawaitable(value):
            awaited = await value
            if inspect.isasyncgen(awaited) or inspect.isawaitable(awaited):
                raise ToolFailedError("the function gave back something to be awaited where a value was expected")
            yield awaited
        else:
            yield value


async def _each(thread: Lent, values: Iterator[object]) -> AsyncGenerator[object, None]:
    """Asks the generator for one value at a time, so that it never runs ahead of its reader."""
    while (value := await thread.run(lambda: next(values, _END))) is not _END:
        yield value


def _nothing() -> None:
    return None


def function_name(function: object) -> str:
    """What a function is called.

    Raises:
        SignatureError: It has no name of its own, as a lambda.
    """
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    if name == "<lambda>":
        raise SignatureError("a lambda has no name for the model to call it by; define a function instead")
    return str(name)


def _docstring(function: Any) -> str | None:
    while isinstance(function, functools.partial):
        function = function.func
    own: object = (
        function.__doc__ if inspect.isroutine(function) else type(function).__call__.__doc__ or function.__doc__
    )
    return own if isinstance(own, str) else None


def _is_async(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    called = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)
