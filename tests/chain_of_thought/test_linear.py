"""Time and memory do not run away, whatever is fed."""

import time
import tracemalloc

import pytest

from enfilade_cot.parser import Parser

PROSE = "The harbour office looks after the berths, and the fee is due at noon.\n"
HOSTILE = {
    "braces": "{",
    "braces on lines": "{\n",
    "brackets": "[",
    "brackets and braces": "[{\n",
    "back-ticks": "`",
    "fences": "```\n",
    "label prefixes": "Action",
    "label prefixes on lines": "Action\n",
    "labels": "Thought: ",
    "labels on lines": "Thought:\n",
    "answer prefixes on lines": "Final Answe\n",
    "quotes": '"',
    "backslashes": "\\",
    "think tags": "<think>",
    "closing think tags": "</think>",
    "think blocks": "<think></think>",
    "line breaks": "\n",
    "blanks": " ",
    "angles": "<",
    "colons": ":",
    "open objects": '{"a":',
    "open objects on lines": '{"a":\n',
    "broken actions": '{"action": x y\n',
    "unlabelled actions": '{"action": "search", "action_input": {}} z\n',
    "labels in a line": "an Action: {",
    "no actions": "Action: none\n",
    "ordinals": "1. \n",
    "action tags on lines": "<action>\n",
    "call tags": "<tool_call>",
    "function tags": "<function=search>",
    "marks of Mistral": "[TOOL_CALLS]",
    "code of Gemma": "```tool_code\nsearch(\n",
    "names of tools": "Tool: search\n",
    "angles apart": " <",
}
STARTS = {
    "nothing": "",
    "an action": "Action: ",
    "an object": 'Action: {"a": ',
    "a string": 'Action: {"a": "',
    "an input": "Action: search\nAction Input: ",
    "a call": "Action: search(",
    "an answer": "Final Answer: ",
    "an answer in an object": '{"final_answer": "',
    "a think block": "<think>",
    "a code block": "```text\n",
    "a wrapped reply": "```\nThought: ",
    "what follows an action": 'Action: {"action": "search", "action_input": 1}\n',
}
SIZE = 4_000


def seconds(text: str, step: int) -> float:
    """CPU time of the fastest of two."""
    chunks = [text[i : i + step] for i in range(0, len(text), step)]
    best = float("inf")
    for _ in range(2):
        parser = Parser(("search",))
        start = time.process_time()
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        best = min(best, time.process_time() - start)
    return best


def filled(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


@pytest.mark.parametrize("step", [1, 20])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_costs_a_small_multiple_of_prose(name: str, step: int) -> None:
    prose = seconds(filled(PROSE, SIZE), step)
    assert seconds(filled(HOSTILE[name], SIZE), step) < 60 * prose + 0.02


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    "name",
    ["braces", "back-ticks", "quotes", "backslashes", "line breaks", "label prefixes on lines", "action tags on lines"],
)
def test_time_grows_with_the_text_and_not_with_its_square(name: str, start: str) -> None:
    short = seconds(STARTS[start] + filled(HOSTILE[name], SIZE), 1)
    long = seconds(STARTS[start] + filled(HOSTILE[name], 4 * SIZE), 1)
    assert long < 10 * short + 0.02


@pytest.mark.parametrize("start", ["", "Final Answer: ", '{"final_answer": "', "<think>", "```text\n"])
def test_text_that_leaves_is_not_kept(start: str) -> None:
    parser = Parser(("search",))
    parser.feed(start)
    line = PROSE.rstrip("\n") if '"' in start else PROSE
    tracemalloc.start()
    for _ in range(3_000):
        parser.feed(line)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100_000


def test_one_long_chunk_costs_no_more_than_its_pieces() -> None:
    text = filled(PROSE, 300_000)
    assert seconds(text, len(text)) < seconds(text, 20) * 2
