"""The tests' model server in a process of its own, with the script of the benchmarks."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROUNDS = 5
DELTAS = 50


def script(tools_a_round: int = 1, rounds: int = ROUNDS, deltas: int = DELTAS, pause: float = 0.0) -> dict[str, Any]:
    """Rounds that call tools, then an answer in many deltas; the round is told by the conversation."""
    turns: list[dict[str, Any]] = []
    for number in range(rounds - 1):
        calls = [_call(number, place) for place in range(tools_a_round)]
        turns.append({"events": [*calls, _chunk({}, "tool_calls"), _usage()]})
    answer = [_chunk({"content": f"word{n} "}) for n in range(deltas)]
    turns.append({"events": [*answer, _chunk({}, "stop"), _usage()], "pause": pause})
    return {"turns": turns, "by_round": True}


def _call(number: int, place: int) -> dict[str, Any]:
    function = {"name": "look", "arguments": json.dumps({"word": f"w{number}"})}
    call = {"index": place, "id": f"call_{number}_{place}", "type": "function", "function": function}
    return _chunk({"role": "assistant", "content": None, "tool_calls": [call]})


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "cc-1", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}


def _usage() -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {
        "id": "cc-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "bench",
        "choices": [],
        "usage": usage,
    }


@contextmanager
def model_server(scripted: dict[str, Any]) -> Iterator[str]:
    """The base URL of a server that plays the script."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.json"
        path.write_text(json.dumps(scripted))
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.model_server", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.kill()
            process.communicate()
