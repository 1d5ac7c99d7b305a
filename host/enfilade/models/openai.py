"""Models behind any OpenAI-compatible endpoint.

The openai client does what it is good at: authorization, retries before the first byte, `Retry-After`, addresses,
errors. Requests are written and answers are read here, because its own objects cost ten times as much for each chunk
and its stream accumulator trusts what many servers get wrong.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING

from enfilade.models.address import Address, address_of
from enfilade.models.assembly import ReplyAssembly
from enfilade.models.carrier import Parts
from enfilade.models.client import EndpointClient
from enfilade.models.failures import Failures
from enfilade.models.quirks import Quirks
from enfilade.models.reply_stream import ReplyStream
from enfilade.models.request import chat_request, completion_request, known_tools
from enfilade.models.retry_after import retry_after
from enfilade.models.settings import ModelSettings
from enfilade.telemetry.place import outgoing as outgoing_trace
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import ModelChunk, ModelRequest, ModelResult

if TYPE_CHECKING:
    import httpx2

_DISCONNECTED = "Server disconnected"
"""What httpx2 calls the answer of a server that hangs up without one."""

Body = AsyncGenerator[bytes, None] | Parts
"""The bytes of an answer."""


class OpenAIProvider:
    """Asks OpenAI-compatible endpoints. Clients are made once for each address, in a thread, when first needed."""

    def __init__(self) -> None:
        self._clients: dict[Address, Future[EndpointClient]] = {}
        self._quirks: dict[tuple[str | None, str], Quirks] = {}

    def info(self, model: ModelSettings) -> ModelInfo:
        """What a strategy is told of the model."""
        return model.info()

    def warm(self, model: ModelSettings) -> None:
        """Begins to import the client's library and to make the client."""
        with contextlib.suppress(ModelFailedError):  # told when the model is called
            self._client(address_of(model))

    async def stream(
        self, model: ModelSettings, request: ModelRequest
    ) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        """Asks the model once; see `ModelProvider.stream`."""
        started = time.perf_counter()
        address = address_of(model)
        failures = Failures(model, address.secrets, address.base_url or "")
        client = await _made(self._client(address), failures)
        if request.tools and not model.tools:
            text = "it is set up as a model that takes no tools (tools = false): use the strategy chain-of-thought"
            raise failures.failed(text, kind="configuration")
        quirks = self._quirks.setdefault((address.base_url, model.name), Quirks())
        assembly = ReplyAssembly(tools=request.tools, known=known_tools(request), markups=model.text_tool_calls)
        reply = ReplyStream(assembly, failures)
        answer = await _open(client, model, request, quirks, failures)
        with _told(failures):
            async with contextlib.aclosing(_body(answer)) as body:
                while (part := await _next(body, reply)) is not None:
                    for chunk in reply.feed(part):
                        yield chunk
        for chunk in reply.end():
            yield chunk
        if assembly.reasoning_field is not None:
            quirks.reasoning_field = assembly.reasoning_field
        yield ModelResult(
            message=assembly.message(),
            finish_reason=assembly.finish_reason,
            usage=assembly.usage,
            model=assembly.model or model.name,
            seconds=time.perf_counter() - started,
        )

    async def aclose(self) -> None:
        """Closes all connections."""
        clients, self._clients = self._clients, {}
        for future in clients.values():
            if future.done() and future.exception() is None:
                await future.result().close()

    def _client(self, address: Address) -> Future[EndpointClient]:
        future = self._clients.get(address)
        if future is None or (future.done() and future.exception() is not None):
            future = self._clients[address] = Future()
            future.set_running_or_notify_cancel()  # whoever waits may give up; the others still want the client
            # A daemon: a program that ends early must not wait for an import.
            threading.Thread(target=_build, args=(address, future), name="openai-client", daemon=True).start()
        return future


def _build(address: Address, future: Future[EndpointClient]) -> None:
    try:
        future.set_result(EndpointClient(address))
    except BaseException as error:  # noqa: BLE001 - raised again where the future is awaited
        future.set_exception(error)


async def _made(future: Future[EndpointClient], failures: Failures) -> EndpointClient:
    try:
        return future.result() if future.done() else await asyncio.wrap_future(future)
    except Exception as error:  # noqa: BLE001 - an unreadable certificate file, a strange proxy variable, ...
        raise failures.failed(f"the client could not be set up: {_words(error)}", kind="configuration") from None


async def _open(
    client: EndpointClient, model: ModelSettings, request: ModelRequest, quirks: Quirks, failures: Failures
) -> "Parts | httpx2.Response":
    """Sends the request; where the endpoint refuses something optional, once more without it."""
    import openai

    completion = request.completion or model.completion
    path, write = ("completions", completion_request) if completion else ("chat/completions", chat_request)
    while True:
        outgoing = write(model, request, quirks)
        try:
            return await client.post(path, outgoing.body, outgoing_trace())
        except openai.APIStatusError as error:
            body = error.response.content
            if not quirks.learn(error.status_code, body.decode("utf-8", "replace"), outgoing.optional):
                raise failures.refused(error.status_code, body, retry_after(error.response.headers)) from None
        except openai.APITimeoutError:
            text = f"no answer within {model.timeout:g} seconds"
            raise failures.failed(text, kind="timeout", retryable=True) from None
        except openai.APIConnectionError as error:
            raise failures.failed(_no_answer(error), kind="connection", retryable=True) from None
        except openai.OpenAIError as error:
            raise failures.failed(f"the client refused: {error}", kind="configuration") from None


def _body(answer: "Parts | httpx2.Response") -> Body:
    """The bytes of an answer as they come; closing the body closes the answer."""
    if isinstance(answer, Parts):
        return answer
    return answer.aiter_bytes() if "content-encoding" in answer.headers else answer.aiter_raw()


@contextlib.contextmanager
def _told(failures: Failures) -> Iterator[None]:
    """Says in words what breaks an answer that has begun."""
    import httpx2

    try:
        yield
    except httpx2.TimeoutException:
        text = f"nothing more came for {failures.model.timeout:g} seconds, in the middle of the answer"
        raise failures.failed(text, kind="timeout", retryable=True) from None
    except httpx2.HTTPError as error:
        text = f"the connection broke in the middle of the answer ({_words(error)})"
        raise failures.failed(text, kind="cut", retryable=True) from None


async def _next(body: Body, reply: ReplyStream) -> bytes | None:
    """The next bytes; None at the end, or when the reply is whole and nothing more is at hand.

    Reading to the end lets the connection be used again; a server that keeps it open must not keep anyone waiting.
    """
    patience = reply.patience
    if patience is None:
        try:
            return await anext(body, None)
        except Exception:
            if reply.holds_reply:  # all that broke is the connection, such as one that promised more bytes
                return None
            raise
    if isinstance(body, Parts) and body.is_over:
        return None
    import httpx2

    with contextlib.suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(patience):
            return await anext(body, None)
    return None


def _no_answer(error: BaseException) -> str:
    """Why a request had no answer, in words."""
    import httpx2

    cause = error.__cause__
    if isinstance(cause, httpx2.RemoteProtocolError) and not str(cause).startswith(_DISCONNECTED):
        return f"what came is no HTTP answer ({_words(cause)}): is the address right?"
    if isinstance(cause, httpx2.TooManyRedirects):
        return "it redirects again and again: is the address right?"
    return f"there is no connection ({_cause(error)}): is the endpoint up, and its address right?"


def _cause(error: BaseException) -> str:
    """The innermost reason of an error, in words."""
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__ or error
    return _words(error)


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
