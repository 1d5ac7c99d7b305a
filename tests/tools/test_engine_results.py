"""What the engine makes of a tool's messages: sizes, texts for the model, files."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from enfilade.tools.blobs import in_parts
from enfilade.tools.limits import ToolLimits
from enfilade_sdk.messages import (
    BlobChunkPayload,
    MessageType,
    TextPayload,
    ToolInvokeMessage,
    blob_message,
    file_message,
    json_message,
    log_message,
    retriever_message,
    text_message,
    url_message,
    variable_message,
)
from tests.support.tool_calls import ForeignTool, call, call_once, engine_of

MIB = 1024 * 1024


@pytest.mark.parametrize("size", [4 * MIB - 1, 4 * MIB, 6 * MIB])
async def test_large_texts_pass_whole_to_the_user(size: int) -> None:
    def big() -> str:
        return "x" * size

    done = await call_once(big)
    assert len(done.shown) == size
    assert not done.result.is_error
    assert len(done.text) < 66_000


@pytest.mark.parametrize("kind", ["text", "json", "generator"])
async def test_a_result_above_the_limit_is_an_error_that_names_size_and_limit(kind: str) -> None:
    def text() -> str:
        return "x" * (64 * MIB)

    def json() -> Any:
        return {"rows": ["x" * MIB] * 50}

    def generator() -> Iterator[str]:
        yield "small"
        yield "x" * (50 * MIB)

    async with engine_of(text, json, generator) as engine:
        done = await call(engine, kind)
        assert done.result.is_error
        assert done.result.details["code"] == "limit_exceeded"
        assert "bytes, above the limit of 8,388,608 bytes; ask it for less" in done.text
        assert {"text": "67,108,864", "json": "52,428,", "generator": "52,428,800"}[kind] in done.text
        assert len(done.text) < 300
        assert (await call(engine, "text")).result.is_error


@pytest.mark.parametrize("character", ["x", "é", "☃", "\U0001f600"])
async def test_a_long_text_is_cut_for_the_model_between_characters(character: str) -> None:
    def long() -> str:
        return character * 50_000

    done = await call_once(long, limits=ToolLimits(result_bytes=1_025))
    size = len(character.encode())
    kept, _, note = done.text.partition("\n[cut: ")
    assert set(kept) == {character}
    assert len(kept.encode()) == 1_025 // size * size
    assert note.startswith(
        f"the result has {50_000 * size:,} bytes, of which the first {len(kept.encode()):,} are shown"
    )
    assert done.shown == character * 50_000


async def test_many_small_texts_are_cut_as_one_long_one_is() -> None:
    async def many() -> AsyncIterator[str]:
        for _ in range(3_000):
            yield "abc"

    done = await call_once(many, limits=ToolLimits(result_bytes=2_000))
    assert done.text.startswith("abc" * 666 + "ab\n[cut: the result has 9,000 bytes, of which the first 2,000")
    assert len(done.messages) == 3_000


async def test_a_large_file_is_sent_in_parts_and_a_huge_one_is_refused() -> None:
    def picture(size: int) -> ToolInvokeMessage:
        return blob_message(b"\xff" * size, mime_type="image/png", filename="a.png")

    async with engine_of(picture, limits=ToolLimits(item_bytes=2 * MIB, file_bytes=5 * MIB)) as engine:
        small = await call(engine, "picture", {"size": 2 * MIB - 100})
        large = await call(engine, "picture", {"size": 4 * MIB + 1})
        huge = await call(engine, "picture", {"size": 6 * MIB})
    assert small.kinds == ["blob"]
    parts = [m.message for m in large.messages if isinstance(m.message, BlobChunkPayload)]
    assert len(parts) == len(large.messages) == 5
    assert [part.sequence for part in parts] == [0, 1, 2, 3, 4]
    assert [part.end for part in parts] == [False, False, False, False, True]
    assert {part.total_length for part in parts} == {4 * MIB + 1}
    assert b"".join(part.blob for part in parts) == b"\xff" * (4 * MIB + 1)
    assert large.text == "an image (a.png, image/png, 4,194,305 bytes) has been given to the user"
    assert huge.messages == []
    assert "gave a file of 6,291," in huge.text


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (text_message("  as it is "), "  as it is "),
        (json_message({"a": [1, None]}), '{"a":[1,null]}'),
        (json_message({"a": 1}, suppress_output=True), "the tool ran and gave no text"),
        (url_message("https://e.example/x"), "result link: https://e.example/x"),
        (
            url_message("https://e.example/a.png", "image"),
            "an image has been given to the user: https://e.example/a.png",
        ),
        (url_message("data:image/png;base64,AAAA", "image"), "an image has been given to the user"),
        (
            url_message("https://e.example/a.pdf", "binary_link"),
            "a file has been given to the user: https://e.example/a.pdf",
        ),
        (
            blob_message(b"abc", mime_type="text/csv", filename="t.csv"),
            "a file (t.csv, text/csv, 3 bytes) has been given to the user",
        ),
        (
            file_message({"id": "f1", "filename": "a.png", "mime_type": "image/png"}),
            "an image (a.png, image/png) has been given to the user",
        ),
        (variable_message("city", "Oban"), "the tool ran and gave no text"),
        (log_message("step"), "the tool ran and gave no text"),
        (retriever_message([{"content": "x"}], context="From the manual: x"), "From the manual: x"),
    ],
)
async def test_each_message_has_its_words_for_the_model_and_reaches_the_user_as_it_is(
    message: ToolInvokeMessage, text: str
) -> None:
    done = await call_once(ForeignTool("t", answers=[message]))
    assert done.text == text
    assert done.messages == [message]


async def test_texts_follow_one_another_and_other_kinds_stand_in_their_own_lines() -> None:
    answers = [
        text_message("a"),
        text_message("b"),
        url_message("https://e.example"),
        text_message("c"),
        json_message([1]),
    ]
    assert (await call_once(ForeignTool("t", answers=answers))).text == "ab\nresult link: https://e.example\nc\n[1]"


async def test_a_file_that_a_tool_sends_in_parts_is_noted_once() -> None:
    blob = b"x" * 2_500_000
    parts = list(in_parts(blob_message(blob, mime_type="application/pdf", filename="a.pdf")))
    done = await call_once(ForeignTool("t", answers=[*parts, text_message("there")]))
    assert done.messages[:-1] == parts
    assert done.text == "a file (a.pdf, application/pdf, 2,500,000 bytes) has been given to the user\nthere"


async def test_messages_are_made_fit_for_any_wire() -> None:
    surrogate = ToolInvokeMessage(MessageType.TEXT, TextPayload(text="a\ud800"), {"note": "\ud800"})
    odd = json_message({"big": 10**30, "tuple": (1, 2)})
    done = await call_once(ForeignTool("t", answers=[surrogate, odd]))
    assert not done.result.is_error
    assert done.messages[0].message == TextPayload(text="a\ufffd")
    assert done.messages[0].meta == {"note": "\ufffd"}
    assert done.text == 'a\ufffd\n{"big":1000000000000000000000000000000,"tuple":[1,2]}'


async def test_a_message_that_no_wire_can_carry_is_a_fault_of_the_tool() -> None:
    done = await call_once(ForeignTool("t", answers=[variable_message("v", object())]))
    assert done.result.is_error
    assert "the tool gave a variable message that is not JSON: $ holds a object" in done.text
