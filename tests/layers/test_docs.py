"""The examples of docs/layers.md are run as they stand there."""

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from enfilade.config import load_config
from enfilade.extensions.loading import Extensions
from enfilade.host import Host
from enfilade.layers.builtin import BUILTIN
from enfilade_sdk.errors import LimitExceededError, ModelFailedError
from enfilade_sdk.prompts import ModelChunk, ToolRequest, ToolResult
from tests.layers.documents import DOCS, blocks
from tests.layers.scenario import (
    LOOK,
    REQUEST,
    Inner,
    answer,
    collected,
    hosted,
    model_inner,
    run_layers,
    told,
    tool_inner,
)

PAGE = "layers.md"


@pytest.fixture
def mine() -> ModuleType:
    """The module of layers of one's own."""
    [block] = [block for block in blocks(PAGE, "python") if block.name == "my_layers.py"]
    module = ModuleType("my_layers")
    exec(compile(block.text, "my_layers.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("text", [block.text for block in blocks(PAGE, "toml")])
async def test_every_configuration_serves(text: str, tmp_path: Path) -> None:
    file = tmp_path / "enfilade.toml"
    file.write_text(text + f'\n[store]\nurl = "sqlite:///{tmp_path}/records.db"\n')
    host = Host(load_config(file, {}), candidates=[], extensions=Extensions())
    assert len(host.layers) == text.count("[[layers]]") + ('"recording"' not in text)  # a store brings that one
    await host.aclose()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("limited.py", "84"),
        (
            "approve.py",
            'user wants calculator {"expression": "12 * 7"}\nthe call of calculator was not allowed: no sums on',
        ),
    ],
)
def test_every_program_says_what_it_should(name: str, said: str, tmp_path: Path) -> None:
    [block] = [block for block in blocks(PAGE, "python") if block.name == name]
    (tmp_path / name).write_text(block.text)
    done = subprocess.run([sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


def test_every_kind_is_in_the_table_and_every_block_is_known() -> None:
    text = (DOCS / PAGE).read_text()
    assert all(f"| `{kind.name}` |" in text for kind in BUILTIN)
    assert {block.name for block in blocks(PAGE) if block.language == "python"} == {
        "approve.py",
        "limited.py",
        "my_layers.py",
    }


async def test_a_layer_that_passes_on_and_adds(mine: ModuleType) -> None:
    async with hosted([mine.Signature()]) as host:
        assert (await host.ask(told({"say": "Yes."}), "?")).text == "Yes.\n-- on-loop"


async def test_a_layer_that_changes_the_request(mine: ModuleType) -> None:
    inner = model_inner()
    await collected(run_layers([mine.Manners()]).model_calls(inner.stream)(REQUEST))
    assert [message.content for message in inner.requests[0].messages] == ["Be polite.", "Well?"]


async def test_a_layer_that_refuses(mine: ModuleType) -> None:
    call = run_layers([mine.NoShell()]).tool_calls(tool_inner().stream)
    assert await collected(call(LOOK)) == [ToolResult("seen")]
    with pytest.raises(LimitExceededError, match="runs no commands"):
        await collected(call(ToolRequest("shell", "{}")))


async def test_a_layer_that_asks_again(mine: ModuleType) -> None:
    inner = model_inner([ModelFailedError("busy")], [answer()])
    assert await collected(run_layers([mine.Spare()]).model_calls(inner.stream)(REQUEST)) == [answer()]
    begun = model_inner([ModelChunk("a"), ModelFailedError("cut")])
    with pytest.raises(ModelFailedError, match="cut"):
        await collected(run_layers([mine.Spare()]).model_calls(begun.stream)(REQUEST))


async def test_a_layer_that_answers_itself(mine: ModuleType) -> None:
    inner, layer = model_inner([answer("a")]), mine.Remembered()
    for _ in range(3):
        assert await collected(run_layers([layer]).model_calls(inner.stream)(REQUEST)) == [answer("a")]
    assert inner.opened == 1


async def test_a_layer_that_times_out(mine: ModuleType) -> None:
    layer = mine.Patience()
    layer.seconds = 0.02
    inner: Inner = tool_inner([asyncio.Event()])
    items: list[Any] = await collected(run_layers([layer]).tool_calls(inner.stream)(LOOK))
    assert [item.text for item in items] == ["look took too long"]
    assert inner.closed == 1


async def test_a_layer_that_observes(mine: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "my_layers")
    async with hosted([mine.ChunkCount()], repeat_last=True) as host:
        outcome = await host.ask(told({"say": "x"}), "?")
    assert f"run {outcome.run_id}: 0 chunks" in caplog.text
