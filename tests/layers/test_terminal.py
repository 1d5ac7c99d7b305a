import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.terminal import CTRL_D, terminal

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
ASK = [sys.executable, "-m", "tests.layers.ask_at_terminal"]
PROMPT = "Allow it? [y]es, [n]o (and why), [c]hange the arguments: "


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        ("y\n", "True None ''"),
        ("YES\n", "True None ''"),
        ("n\n", "False None ''"),
        ("no it is still needed\n", "False None 'it is still needed'"),
        (CTRL_D, "False None ''"),
    ],
)
async def test_the_word_at_the_terminal_counts(keys: str, decision: str) -> None:
    async with terminal([*ASK, "30", "delete"], ENVIRONMENT, ROOT) as screen:
        await screen.until(f'The agent wants to call: delete {{"path": "a.txt"}}\n{PROMPT}')
        screen.press(keys)
        await screen.until(f"<delete: {decision}>")
        assert await screen.exit_code() == 0


async def test_what_is_no_word_is_asked_again() -> None:
    async with terminal([*ASK, "30", "delete"], ENVIRONMENT, ROOT) as screen:
        place = await screen.until(PROMPT)
        screen.press("maybe\n")
        await screen.until(PROMPT, place)
        screen.press("n\n")
        await screen.until("<delete: False None ''>")


async def test_the_arguments_can_be_changed_and_are_asked_for_until_they_are_an_object() -> None:
    async with terminal([*ASK, "30", "delete"], ENVIRONMENT, ROOT) as screen:
        await screen.until(PROMPT)
        screen.press("c\n")
        place = await screen.until("Arguments (a JSON object, on one line): ")
        screen.press("{path\n")
        place = await screen.until("That is not JSON", place)
        screen.press("[1]\n")
        await screen.until("That is no object", place)
        screen.press('{"path": "b.txt"}\n')
        await screen.until("<delete: True {'path': 'b.txt'} ''>")


async def test_calls_at_once_are_asked_about_one_after_the_other() -> None:
    async with terminal([*ASK, "30", "first", "second"], ENVIRONMENT, ROOT) as screen:
        await screen.until("wants to call: first")
        await screen.until(PROMPT)
        assert "second" not in screen.text
        screen.press("y\n")
        place = await screen.until("wants to call: second")
        await screen.until(PROMPT, place)
        screen.press("n\n")
        await screen.until("<second: False")
        assert "<first: True" in screen.text


async def test_a_question_that_nobody_answers_is_taken_back() -> None:
    async with terminal([*ASK, "0.3", "delete"], ENVIRONMENT, ROOT) as screen:
        await screen.until("Nobody waits for the answer any more.")
        await screen.until("<delete: too late>")
        assert await screen.exit_code() == 0


def test_without_a_terminal_the_answer_is_no() -> None:
    command = [*ASK, "30", "delete"]
    done = subprocess.run(
        command,
        env=ENVIRONMENT,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.startswith("<delete: False None 'nobody could be asked, for there is no terminal (")


async def test_output_that_goes_elsewhere_does_not_take_the_question_along() -> None:
    read, write = os.pipe()
    async with terminal([*ASK, "30", "delete"], ENVIRONMENT, ROOT, stdout=write) as screen:
        os.close(write)
        await screen.until(PROMPT)
        screen.press("y\n")
        assert await screen.exit_code() == 0
    assert await asyncio.to_thread(os.read, read, 1000) == b"<delete: True None ''>\n"
    os.close(read)
