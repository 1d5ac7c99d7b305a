"""Requests carried over aiohttp: what a network, a server and a consumer can do to them."""

import asyncio
import gc
import socket
import ssl
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import trustme

from enfilade.models.carrier import Carrier, Parts, letter_of
from enfilade.models.gateway import ModelGateway
from enfilade.models.settings import ModelSettings
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.prompts import ModelChunk, ModelRequest, UserMessage
from tests.support.model_calls import ask, served
from tests.support.model_turns import Turn, chunk, sse, text_turn

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
RAIN = sse(chunk({"content": "Rain."}, "stop")) + b"data: [DONE]\n\n"
WHOLE = HEAD + f"content-length: {len(RAIN)}\r\n\r\n".encode() + RAIN


@asynccontextmanager
async def server(
    handler: Handler, host: str = "127.0.0.1", context: ssl.SSLContext | None = None
) -> AsyncGenerator[str, None]:
    """A server that does with each connection what the handler says; gives its base URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    async with await asyncio.start_server(serve, host, 0, ssl=context) as running:
        port = running.sockets[0].getsockname()[1]
        shown = f"[{host}]" if ":" in host else "localhost" if context else host
        yield f"{'https' if context else 'http'}://{shown}:{port}/v1"


@asynccontextmanager
async def gateway_to(url: str, **settings: object) -> AsyncGenerator[ModelGateway, None]:
    model = ModelSettings.model_validate({"base_url": url, "max_retries": 0, "timeout": 10.0, **settings})
    gateway = ModelGateway({"m": model}, "m")
    try:
        yield gateway
    finally:
        await gateway.aclose()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    (length,) = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    await reader.readexactly(int(length))
    return head


async def answer_for_ever(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        await read_request(reader)
        writer.write(WHOLE)


async def until(holds: Callable[[], bool]) -> None:
    """Lets the event loop turn until something holds."""
    for _ in range(100_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never held")


@asynccontextmanager
async def carried(url: str, body: bytes = b"{}") -> AsyncGenerator[Parts]:
    """The answer to a request that is sent without the client."""
    request = httpx2.Request("POST", url, content=body, extensions={"timeout": httpx2.Timeout(5).as_dict()})
    carrier = Carrier(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    try:
        async with aclosing(await carrier.send(letter_of(request), body)) as parts:
            yield parts
    finally:
        await carrier.aclose()


async def test_an_answer_comes_in_parts_until_it_is_over() -> None:
    async with server(answer_for_ever) as url, carried(url) as parts:
        assert parts.is_plain
        assert b"".join([part async for part in parts]) == RAIN
        assert parts.is_over


@pytest.mark.parametrize("header", [b"set-cookie: a=b", b"content-encoding: gzip"])
async def test_an_answer_that_says_more_than_its_body_is_not_plain(header: bytes) -> None:
    async def say_more(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(WHOLE.replace(b"\r\n", b"\r\n" + header + b"\r\n", 1))
        await writer.drain()

    async with server(say_more) as url, carried(url) as parts:
        assert not parts.is_plain


async def test_without_aiohttp_requests_are_carried_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    async with served([text_turn("Rain."), Turn(raw=[RAIN[:30]], end="cut")]) as (_, gateway):
        assert (await ask(gateway)).text == "Rain."
        with pytest.raises(ModelFailedError, match="in the middle of the answer"):
            await ask(gateway)


async def test_what_came_before_a_break_reaches_a_slow_reader() -> None:
    broken = asyncio.Event()

    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + b"content-length: 1000\r\n\r\n" + sse(chunk({"content": "The yard "})))
        await asyncio.wait_for(broken.wait(), 5)
        writer.write(sse(chunk({"content": "has three."})))
        await writer.drain()
        writer.close()

    async with server(half) as url, carried(url) as parts:
        assert b"The yard" in await anext(parts)
        broken.set()
        await until(lambda: parts.response.content.exception() is not None)
        assert b"has three." in await anext(parts)
        for _ in range(2):
            with pytest.raises(httpx2.RemoteProtocolError, match="closed it too early"):
                await anext(parts)


async def test_a_reply_whose_end_came_before_the_break_is_whole() -> None:
    shown, broken = asyncio.Event(), asyncio.Event()

    async def finish_and_break(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + b"content-length: 1000\r\n\r\n" + sse(chunk({"content": "Ra"})))
        await asyncio.wait_for(shown.wait(), 5)
        writer.write(sse(chunk({"content": "in."}, "stop")))
        writer.close()
        await writer.wait_closed()
        broken.set()

    async with server(finish_and_break) as url, gateway_to(url) as gateway:
        stream = gateway.stream(ModelRequest(messages=(UserMessage(content="?"),)))
        assert await anext(stream) == ModelChunk("Ra")
        shown.set()
        await asyncio.wait_for(broken.wait(), 5)
        for _ in range(100):  # a consumer that takes its time
            await asyncio.sleep(0)
        assert "".join([part.text async for part in stream if isinstance(part, ModelChunk)]) == "in."


async def test_an_idle_connection_that_the_server_closed_costs_no_call() -> None:
    closed = asyncio.Event()
    served_by: list[int] = []

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served_by.append(writer.get_extra_info("peername")[1])
        await read_request(reader)
        writer.write(WHOLE)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        closed.set()

    async with server(answer_once) as url, gateway_to(url, max_retries=1) as gateway:
        for _ in range(3):
            assert (await ask(gateway)).text == "Rain."
            await asyncio.wait_for(closed.wait(), 5)
            closed.clear()
    assert len(set(served_by)) == 3


async def test_five_hundred_calls_at_once_are_all_answered() -> None:
    async with served([text_turn("Ra", "in.")], repeat_last=True, settings={"timeout": 50.0}) as (_, gateway):
        answers = await asyncio.gather(*(ask(gateway) for _ in range(500)))
    assert {answer.text for answer in answers} == {"Rain."}


async def test_a_server_that_never_reads_the_question_is_a_timeout() -> None:
    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reader._transport.pause_reading()  # type: ignore[attr-defined]  # noqa: SLF001 - nobody reads
        await asyncio.sleep(5)

    async with server(deaf) as url, gateway_to(url, timeout=0.1) as gateway:
        with pytest.raises(ModelFailedError, match=r"no answer within 0\.1 seconds") as caught:
            await ask(gateway, "word " * 4_000_000)
    assert caught.value.details["type"] == "timeout"


async def test_an_endpoint_that_takes_no_connection_is_a_timeout() -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(busy.getsockname())
        async with gateway_to(f"http://127.0.0.1:{busy.getsockname()[1]}/v1", timeout=0.2) as gateway:
            with pytest.raises(ModelFailedError, match=r"no answer within 0\.2 seconds"):
                await ask(gateway)
        for each in waiting:
            each.close()


async def test_a_name_that_nobody_has_is_no_connection() -> None:
    async with gateway_to("http://nobody.invalid/v1") as gateway:
        with pytest.raises(ModelFailedError, match="there is no connection") as caught:
            await ask(gateway)
    assert caught.value.details["type"] == "connection"


async def test_a_server_that_hangs_up_without_an_answer_is_no_connection() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)

    async with server(hang_up) as url, gateway_to(url) as gateway:
        with pytest.raises(ModelFailedError, match="there is no connection") as caught:
            await ask(gateway)
    assert (caught.value.details["type"], caught.value.retryable) == ("connection", True)


async def test_a_later_request_that_the_server_hangs_up_on_is_tried_again() -> None:
    connections: list[int] = []

    async def hang_up_on_the_second(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(1)
        await read_request(reader)
        writer.write(WHOLE)
        await read_request(reader)

    async with server(hang_up_on_the_second) as url:
        async with gateway_to(url, max_retries=1) as gateway:
            assert [(await ask(gateway)).text for _ in range(2)] == ["Rain."] * 2
        async with gateway_to(url) as gateway:
            await ask(gateway)
            with pytest.raises(ModelFailedError, match=r"there is no connection \(Server disconnected\)"):
                await ask(gateway)
    assert len(connections) == 3


async def test_a_server_that_does_not_speak_http_is_told_so() -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"220 mail.example ESMTP\r\n\r\n")
        await writer.drain()

    async with server(babble) as url, gateway_to(url) as gateway:
        with pytest.raises(ModelFailedError, match="what came is no HTTP answer") as caught:
            await ask(gateway)
    assert "220 mail.example ESMTP" in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.retryable


async def test_a_head_of_many_kilobytes_is_read() -> None:
    async def wordy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(WHOLE.replace(b"\r\n", b"\r\nx-policy: " + b"p" * 30_000 + b"\r\n", 1))
        await writer.drain()

    async with server(wordy) as url, gateway_to(url) as gateway:
        assert (await ask(gateway)).text == "Rain."


async def test_an_endpoint_at_an_ipv6_address_is_reached() -> None:
    try:
        async with server(answer_for_ever, "::1") as url, gateway_to(url) as gateway:
            assert (await ask(gateway)).text == "Rain."
    except OSError:
        pytest.skip("this machine has no IPv6")


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@asynccontextmanager
async def tls_server(authority: trustme.CA) -> AsyncGenerator[str, None]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    async with server(answer_for_ever, context=context) as url:
        yield url


async def test_a_private_authority_is_trusted_by_ssl_cert_file(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with tls_server(authority) as url:
        async with gateway_to(url) as gateway:
            for _ in range(2):
                assert (await ask(gateway)).text == "Rain."
        gc.collect()  # what was not closed would warn now


async def test_an_authority_that_nobody_trusts_is_no_connection(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    async with tls_server(authority) as url, gateway_to(url) as gateway:
        with pytest.raises(ModelFailedError, match=r"there is no connection .*certificate verify failed") as caught:
            await ask(gateway)
    assert caught.value.details["type"] == "connection"


async def test_closing_leaves_nothing_open_even_in_the_middle_of_an_answer() -> None:
    async with served([Turn(raw=[sse(chunk({"content": "Ra"}))], end="hang"), text_turn("x")]) as (running, gateway):
        stream = gateway.stream(ModelRequest(messages=(UserMessage(content="?"),)))
        await anext(stream)
        assert (await ask(gateway)).text == "x"
        await gateway.aclose()
        with pytest.raises(ModelFailedError, match="in the middle of the answer"):
            await anext(stream)
        await running.until(lambda: running.dropped == 1)
    del gateway, stream
    gc.collect()
