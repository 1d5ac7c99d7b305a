"""A run of twenty actions in mixed forms, through the command: its log tree, its records, its answer."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.enfilade_command import Enfilade, Finished, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import Turn, text_turn
from tests.support.recorded_command import Recorded

TOOLS = '''
def moorings(pier: str) -> str:
    """Counts free moorings."""
    return f"pier {pier}: {ord(pier) - 64} free"


def siren() -> str:
    """Sounds the siren."""
    raise ConnectionError("the siren is out of order")
'''
OBJECT = '{"action": "moorings", "action_input": {"pier": "%s"}}'
FORMS = (
    f"Thought: look.\nAction: {OBJECT}",
    'Thought: look.\nAction: moorings\nAction Input: {"pier": "%s"}',
    "Thought: look.\nAction: moorings\nAction Input: %s\nObservation: none\nFinal Answer: none",
    f"I look.\n\nAction:\n```json\n{OBJECT}\n```",
    "**Thought:** look.\n**Action:** moorings\n**Action Input:** %s",
    "Thought: look.\nAction: moorings[%s]",
    'Thought: look.\nAction: moorings(pier="%s")',
    "Thought\uff1alook.\nAction\uff1amoorings\nAction Input\uff1a%s",
    "<think>Action: siren</think>Thought: look.\nAction: moorings\nAction Input:\n  pier: %s",
    "Thought: look.\nAction: {'tool_call': {'name': 'moorings', 'arguments': {'pier': '%s',}}}",
    '<tool_call>\n{"name": "moorings", "arguments": {"pier": "%s"}}\n</tool_call>',
    '[TOOL_CALLS]moorings[ARGS]{"pier": "%s"}',
    "<function=moorings><parameter=pier>%s</parameter></function>",
    "<action>moorings</action><action_input>%s</action_input>",
    'Action: {{"action": "moorings", "action_input": {{"pier": "%s"}}}}',
    "1. Thought: look.\n2. Action: moorings\n3. Action Input: '%s'",
)
PIERS = "ABCDEFGHIJKLMNOP"
ACTIONS = [
    *(form % pier for form, pier in zip(FORMS, PIERS, strict=True)),
    "Thought: two at once.\nAction: [" + OBJECT % "Q" + ", " + OBJECT % "R" + "]",
    "Thought: a slip.\nAction: mooring\nAction Input: S",
    "Thought: broken.\nAction: {",
    "Thought: loud.\nAction: siren",
]
LIMIT = len(ACTIONS)
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
ANSWER = text_turn("Thought: I know.\nFinal ", "Answer: Eighteen piers, ", "and the siren is broken.", usage=USAGE)


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Recorded]:
    """The command in an empty folder, which holds its records too."""
    runtime = Path(tempfile.mkdtemp(prefix="cot-test-", dir="/tmp"))
    command = Enfilade(tmp_path, runtime)
    command.write("harbour.py", TOOLS)
    yield Recorded(command, "")
    left = command.left_behind()
    shutil.rmtree(runtime)
    assert left == []


async def ask(recorded: Recorded, isolation: str, last: Turn, *words: str) -> tuple[Finished, list[dict[str, Any]]]:
    """Plays all actions and a last turn; gives the end of the command, and what the model was asked."""
    turns = [text_turn(*pieces(text), usage=USAGE) for text in ACTIONS]
    async with ModelServer([*turns, last]) as server:
        done = await recorded.enfilade(
            "run", "How many piers?", "-s", "chain-of-thought", "--json", "--record", "--isolation", isolation,
            "-t", "harbour.py:moorings", "-t", "harbour.py:siren", "--max-iteration", str(LIMIT), *words,
            *at(server.base_url),
        )  # fmt: skip
        return done, server.bodies


def pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def logs(done: Finished) -> dict[str, dict[str, Any]]:
    """The last state of each log, by its id."""
    return {line["message"]["id"]: line["message"] for line in done.lines if line["type"] == "log"}


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
async def test_twenty_actions_in_mixed_forms_come_to_an_answer(recorded: Recorded, isolation: str) -> None:
    done, requests = await ask(recorded, isolation, ANSWER)
    assert done.code == 0, done.err
    outcome = done.outcome
    assert outcome["answer"] == outcome["text"] == "Eighteen piers, and the siren is broken."
    assert len(requests) == LIMIT + 1
    assert "Action: {" not in requests[-1]["messages"][0]["content"]  # the menu is withdrawn
    _, scratchpad = requests[-1]["messages"][-2:]
    assert scratchpad["content"].count("\nObservation: ") == LIMIT
    assert "there is not a tool named mooring" in scratchpad["content"]
    assert "the siren is out of order" in scratchpad["content"]

    tree = logs(done)
    rounds = [log for log in tree.values() if log["label"].startswith("ROUND ")]
    assert [log["label"] for log in rounds] == [f"ROUND {number}" for number in range(1, LIMIT + 2)]
    assert all(log["status"] == "success" and log["parent_id"] is None for log in rounds)
    below = [[log for log in tree.values() if log["parent_id"] == above["id"]] for above in rounds]
    labels = [[log["label"] for log in inner] for inner in below]
    assert labels[:16] == [["scripted thought", "CALL moorings"]] * 16
    assert labels[16] == ["scripted thought", "CALL moorings", "CALL moorings"]
    assert labels[17:] == [
        ["scripted thought", "CALL mooring"], ["scripted thought", "FORMAT ERROR"], ["scripted thought", "CALL siren"],
        ["scripted thought"],
    ]  # fmt: skip
    assert [inner[1]["data"]["arguments"] for inner in below[:16]] == [{"pier": pier} for pier in PIERS]
    failed = [log["label"] for inner in below for log in inner if log["status"] == "error"]
    assert failed == ["CALL mooring", "FORMAT ERROR", "CALL siren"]
    assert all(log["status"] != "start" for log in tree.values())

    (run,) = await recorded.runs()
    shown = await recorded.shown(run["id"])
    assert shown["status"] == "succeeded"
    assert [len(entry["calls"]) for entry in shown["rounds"]] == [1] * 16 + [2, 1, 0, 1, 0]
    results = [call["result"] for entry in shown["rounds"] for call in entry["calls"]]
    assert results[:18] == [f"pier {pier}: {number} free" for number, pier in enumerate(PIERS + "QR", 1)]
    text = (await recorded.enfilade("runs", "show", run["id"])).text
    assert 'moorings {"pier":"P"}, succeeded' in text
    assert "answer: Eighteen piers, and the siren is broken." in text
    used = [entry["usage"]["total_tokens"] for entry in shown["rounds"]]
    assert outcome["usage"]["total_tokens"] == sum(used) == (LIMIT + 1) * USAGE["total_tokens"]


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
async def test_a_model_that_still_acts_at_the_limit_ends_as_it_was_told(recorded: Recorded, isolation: str) -> None:
    last = text_turn("Thought: once more.\nAction: " + OBJECT % "Z")
    done, requests = await ask(recorded, isolation, last, "-p", "on_limit=answer")
    assert done.code == 0, done.err
    assert len(requests) == LIMIT + 1
    assert done.outcome["answer"].endswith(
        f"The limit of {LIMIT} rounds with tools was reached before the work was done."
    )
    assert not any("pier Z" in (call["result"] or "") for entry in done.outcome["rounds"] for call in entry["calls"])


async def test_or_as_an_error_that_keeps_what_was_done(recorded: Recorded) -> None:
    last = text_turn("Thought: once more.\nAction: " + OBJECT % "Z")
    done, _ = await ask(recorded, "process", last)
    assert done.code == 1
    assert done.outcome["error"]["code"] == "max_iterations"
    assert f"limit of {LIMIT} rounds" in done.outcome["error"]["message"]
    assert len(done.outcome["rounds"]) == LIMIT + 1
    (run,) = await recorded.runs()
    shown = await recorded.shown(run["id"])
    assert shown["status"] == "failed"
    assert [len(entry["calls"]) for entry in shown["rounds"]][:17] == [1] * 16 + [2]
