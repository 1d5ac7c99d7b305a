"""What a plugin process reads and says, apart from any host."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.blobs import BlobJoiner
from enfilade_sdk.codec import start_to_wire
from enfilade_sdk.errors import EnfiladeError, LimitExceededError, NotAdmittedError, QuotaExceededError
from enfilade_sdk.invocation import Invocation
from enfilade_sdk.json_text import clean, json_text
from enfilade_sdk.messages import BlobChunkPayload, blob_message, text_message
from enfilade_sdk.serving.address import SOCKET_PATH_LIMIT, unix_address
from enfilade_sdk.serving.command_line import read_command_line
from enfilade_sdk.serving.handshake import HandshakeError, Launch, choose_protocol, handshake_line, read_launch
from enfilade_sdk.serving.parts import BLOB_PART, check_size, is_whole, parts_of
from enfilade_sdk.serving.plugin import Offer, Plugin, offer_of
from enfilade_sdk.serving.run import GuestRun, failed_item
from enfilade_wire.v1 import strategy_pb2 as pb


@given(st.integers(0, 3 * BLOB_PART + 1))
def test_a_blob_in_parts_is_joined_to_what_it_was(size: int) -> None:
    blob = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    message = blob_message(blob, mime_type="m", filename="f")
    parts = list(parts_of(message))
    if is_whole(message):
        assert parts == [message]
        return
    joiner, joined = BlobJoiner(10 * BLOB_PART), None
    for part in parts:
        assert isinstance(part.message, BlobChunkPayload)
        joined = joiner.add(part.message, part.meta or {})
    assert joined is not None
    assert (joined.data, joined.meta) == (blob, {"mime_type": "m", "filename": "f"})


def test_a_message_over_the_limit_is_refused_with_both_numbers() -> None:
    check_size(text_message("x"), 10, 10)
    check_size(text_message("x"), 10**9, 0)
    with pytest.raises(LimitExceededError, match="a text message of 11 bytes is over the limit of 10 bytes"):
        check_size(text_message("x"), 11, 10)


@given(st.text(st.characters(exclude_categories=())))
def test_cleaned_text_can_be_written_and_what_could_be_is_unchanged(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    try:
        text.encode()
    except UnicodeEncodeError:
        assert clean(cleaned) == cleaned
    else:
        assert cleaned == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(st.characters(exclude_categories=())) | st.integers() | st.floats(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
    )
)
def test_any_value_is_written_as_json(value: Any) -> None:
    json.loads(json_text(value))


def test_surrogates_that_make_a_pair_are_joined() -> None:
    assert clean("\ud83d\ude00") == "😀"
    assert json_text({"\ud83d": ["\ud83d\ude00", ("\udcff",)]}) == '{"\ufffd":["😀",["\ufffd"]]}'


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = ["\ud800"]
    value.append(value)
    with pytest.raises(EnfiladeError, match="a value cannot be written as JSON"):
        json_text(value)


@pytest.mark.parametrize("path", ["/tmp/s", "/tmp/a b/潮", "/tmp/a%20b", "/" + "x" * (SOCKET_PATH_LIMIT - 1)])
def test_a_sockets_address_is_escaped(path: str) -> None:
    address = unix_address(path)
    assert address.startswith("unix:/")
    assert address.isascii()
    assert not set(address) & set(" ?#,")


@pytest.mark.parametrize("path", ["", "/" + "x" * SOCKET_PATH_LIMIT, "/潮" * 30, "/tmp/a,b"])
def test_a_path_that_no_socket_can_have_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="a socket's path"):
        unix_address(path)


def test_the_command_line_is_sorted() -> None:
    line = read_command_line(["--path", "/a", "--path=/b=c", "x=m:C", "m:D", "--listen=unix:/s", "--cert", "c"])
    assert (line.offers, line.paths, line.listen, line.cert) == (["x=m:C", "m:D"], ["/a", "/b=c"], "unix:/s", "c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("m:C", Offer("", "m:C")), ("n=m.k:C.D", Offer("n", "m.k:C.D")), ("a=b=m:C", Offer("a=b", "m:C"))],
)
def test_an_offer_is_read(text: str, expected: Offer) -> None:
    assert offer_of(text) == expected


@pytest.mark.parametrize("text", ["", "m", ":C", "m:", "n=", "n=m"])
def test_an_offer_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(NotAdmittedError, match=r"expected package\.module:Class"):
        offer_of(text)


def launched(monkeypatch: pytest.MonkeyPatch, line: bytes | None, **environment: str) -> Launch:
    for name, value in {"ENFILADE_PLUGIN": "5a4e8f1c-strategy-plugin", **environment}.items():
        monkeypatch.setenv(name, value)
    reading, writing = os.pipe()
    try:
        if line is not None:
            monkeypatch.setenv("ENFILADE_LAUNCH", "stdin")
            os.write(writing, line)
        os.close(writing)
        return read_launch(reading)
    finally:
        os.close(reading)


def test_a_launch_is_read_and_leaves_nothing_for_the_plugin_to_see(monkeypatch: pytest.MonkeyPatch) -> None:
    line = b'{"token": "t", "parent": 7, "max_message_bytes": 99, "more": [1]}\nrest'
    launch = launched(monkeypatch, line, PLUGIN_UNIX_SOCKET_DIR="/d", PLUGIN_PROTOCOL_VERSIONS="1,2")
    assert launch == Launch("/d", (1, 2), "t", 7, 99)
    assert not any(name.startswith(("PLUGIN_", "ENFILADE_PLUGIN", "ENFILADE_LAUNCH")) for name in os.environ)


def test_a_stock_host_writes_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert launched(monkeypatch, None, PLUGIN_UNIX_SOCKET_DIR="/d") == Launch("/d", (1,))


@pytest.mark.parametrize(
    ("line", "environment", "text"),
    [
        (None, {"ENFILADE_PLUGIN": "other"}, "It is started by a host, not by hand"),
        (None, {}, "expected PLUGIN_UNIX_SOCKET_DIR in the environment"),
        (
            None,
            {"PLUGIN_UNIX_SOCKET_DIR": "/d", "PLUGIN_PROTOCOL_VERSIONS": "one"},
            "expected numbers with commas, got 'one'",
        ),
        (
            b"not json\n",
            {"PLUGIN_UNIX_SOCKET_DIR": "/d"},
            "expected one line of JSON on stdin from the host, got b'not json",
        ),
        (b"", {"PLUGIN_UNIX_SOCKET_DIR": "/d"}, "expected one line of JSON on stdin"),
        (b"[]\n", {"PLUGIN_UNIX_SOCKET_DIR": "/d"}, "expected a JSON object on stdin"),
        (
            b'{"parent": "x"}\n',
            {"PLUGIN_UNIX_SOCKET_DIR": "/d"},
            "launch line, parent: expected a whole number, got 'x'",
        ),
    ],
)
def test_a_launch_that_cannot_be_answered_says_why(
    monkeypatch: pytest.MonkeyPatch, line: bytes | None, environment: dict[str, str], text: str
) -> None:
    with pytest.raises(HandshakeError) as caught:
        launched(monkeypatch, line, **environment)
    assert text in str(caught.value)


def test_a_host_of_another_protocol_is_told_which() -> None:
    assert choose_protocol(Launch("/d", (1, 2)), 2) == 2
    with pytest.raises(HandshakeError, match="this plugin speaks protocol 1, the host speaks 2, 3; update the older"):
        choose_protocol(Launch("/d", (2, 3)), 1)
    assert handshake_line(1, "/d/s") == "1|1|unix|/d/s|grpc|"


def test_two_strategies_of_one_name_are_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "class A:\n    name = 'same'\n    def get_parameters(self): return []\n    def invoke(self): yield 'x'\nB = A\n"
    )
    (tmp_path / "twice_named.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin = Plugin([offer_of("twice_named:A"), offer_of("twice_named:B")])
    assert [len(description.faults) for description in plugin.descriptions] == [0, 1]
    assert "another strategy of this plugin is named 'same' too" in str(plugin.descriptions[1].faults[0])
    sys.modules.pop("twice_named")


def test_any_error_can_be_sent() -> None:
    odd: Any = EnfiladeError("x")
    odd.message = 7
    for error in (odd, QuotaExceededError("x" * 10**6), QuotaExceededError("x", details={"a": object()})):
        item = failed_item(error)
        assert item.WhichOneof("item") == "failed"
        assert item.ByteSize() < 100_000


class Stream:
    """The two ends of a Run stream, by hand."""

    def __init__(self, *frames: pb.HostFrame, closes: bool = False) -> None:
        self.incoming: asyncio.Queue[pb.HostFrame | None] = asyncio.Queue()
        for frame in frames:
            self.incoming.put_nowait(frame)
        if closes:
            self.incoming.put_nowait(None)
        self.written: list[pb.PluginItem] = []
        self.wrote = asyncio.Event()

    async def read(self) -> pb.HostFrame | None:
        return await self.incoming.get()

    async def write(self, message: pb.PluginFrame) -> None:
        self.written += message.items
        self.wrote.set()

    def kinds(self) -> list[str | None]:
        return [item.WhichOneof("item") for item in self.written]


def started(*more: pb.HostItem, limit: int = 0) -> pb.HostFrame:
    return pb.HostFrame(items=[pb.HostItem(start=start_to_wire(Invocation("s", {}), limit)), *more])


class Says:
    async def invoke(self) -> Any:
        yield "a"
        yield "b"


class Asks:
    async def invoke(self, *, session: Any) -> Any:
        yield (await session.tools.invoke("t", {})).text


async def _result_of(call: Any) -> Any:
    return await call


async def serve(stream: Stream, strategy: Any) -> None:
    await asyncio.wait_for(GuestRun(stream, lambda _: strategy).serve(), 5)


async def test_a_run_that_waits_for_nothing_is_one_write() -> None:
    stream = Stream(started())
    await serve(stream, Says())
    assert stream.kinds() == ["message", "message", "finished"]


async def test_a_stream_that_is_closed_before_its_start_is_no_run() -> None:
    stream = Stream(closes=True)
    await serve(stream, Says())
    assert stream.written == []


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (pb.HostFrame(), "rule 'start is first' was broken: got None"),
        (pb.HostFrame(items=[pb.HostItem(cancel=pb.Cancel())]), "rule 'start is first' was broken: got 'cancel'"),
        (
            pb.HostFrame(items=[pb.HostItem(start=pb.Start(params_json="{"))]),
            "field start.params_json: expected JSON text",
        ),
    ],
)
async def test_a_host_that_breaks_a_rule_is_told_which(frame: pb.HostFrame, text: str) -> None:
    stream = Stream(frame)
    await serve(stream, Says())
    (item,) = stream.written
    assert item.failed.code == "protocol"
    assert item.failed.message.startswith(text)


@pytest.mark.parametrize(
    ("item", "code", "text"),
    [
        (pb.HostItem(cancel=pb.Cancel(reason="enough")), "cancelled", "the run was cancelled: enough"),
        (pb.HostItem(start=pb.Start()), "protocol", "rule 'a stream has one start' was broken"),
        (
            pb.HostItem(tool_done=pb.ToolDone(call_id=1, details_json="[")),
            "protocol",
            "field tool_done.details_json: expected JSON text",
        ),
    ],
)
async def test_what_ends_a_run_from_outside_is_in_its_end(item: pb.HostItem, code: str, text: str) -> None:
    stream = Stream(started())
    serving = asyncio.ensure_future(serve(stream, Asks()))
    await asyncio.wait_for(stream.wrote.wait(), 5)
    stream.incoming.put_nowait(pb.HostFrame(items=[item]))
    await serving
    assert stream.kinds()[-1] == "failed"
    assert (stream.written[-1].failed.code, stream.written[-1].failed.message[: len(text)]) == (code, text)


async def test_a_host_that_closes_its_side_gets_the_messages_but_answers_no_calls() -> None:
    says, asks = Stream(started(), closes=True), Stream(started(), closes=True)
    await serve(says, Says())
    await serve(asks, Asks())
    assert says.kinds() == ["message", "message", "finished"]
    assert asks.written[-1].failed.message == "the host closed its side of the stream; no further calls are answered"


async def test_a_call_given_up_before_it_was_sent_is_not_cancelled_in_the_host() -> None:
    class Impatient:
        async def invoke(self, *, session: Any) -> Any:
            for number in range(600):
                yield str(number)
            task = asyncio.ensure_future(_result_of(session.tools.invoke("t", {})))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            yield "on"

    stream = Stream(started())
    await serve(stream, Impatient())
    assert stream.kinds().count("cancel_call") == stream.kinds().count("tool_call")


async def test_answers_to_calls_that_were_given_up_are_passed_over() -> None:
    late = [
        pb.HostItem(tool_done=pb.ToolDone(call_id=9, text="x")),
        pb.HostItem(model_chunk=pb.ModelChunk(call_id=9, text="x")),
        pb.HostItem(storage_value=pb.StorageValue(call_id=9)),
        pb.HostItem(call_failed=pb.CallFailed(call_id=9, code="internal")),
    ]
    stream = Stream(started(*late))
    await serve(stream, Says())
    assert stream.kinds()[-1] == "finished"
