import asyncio
import os

from tests.support.enfilade_command import Enfilade, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import Call, Turn, text_turn
from tests.support.terminal import CTRL_C, terminal

WAY = Turn(text=("Let me ", "see."), calls=(Call("calculator", {"expression": "12 * 7"}),))


async def test_text_streams_and_the_trace_stands_between(enfilade: Enfilade) -> None:
    async with ModelServer([WAY, text_turn("It is ", "84.", reasoning=("Sums, sums.",))]) as server:
        command = enfilade.command(["run", "q", "-t", "calculator", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
            assert await screen.exit_code() == 0
    lines = screen.text.splitlines()
    assert lines[0] == "Let me see."
    assert lines[1].startswith("round 1: scripted, ")
    assert lines[2].startswith('  calculator {"expression":"12 * 7"} (')
    assert lines[3:5] == ["Sums, sums.", "It is 84."]
    assert lines[5].startswith("round 2: scripted, ")
    assert lines[6].startswith("succeeded: 2 model calls, 1 tool call, ")
    assert len(lines) == 7
    assert "\x1b[2mSums, sums.\x1b[0m" in screen.raw


async def test_text_shows_while_the_model_still_speaks(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("Some words", end="hang", done=False)]) as server:
        command = enfilade.command(["run", "q", "-t", "calculator", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
            await screen.until("Some words")
            screen.press(CTRL_C)
            assert await screen.exit_code() == 130
    assert "(code: cancelled)" in screen.text
    assert "Traceback" not in screen.text


async def test_no_color_is_obeyed(enfilade: Enfilade) -> None:
    enfilade.environment["NO_COLOR"] = "1"
    async with ModelServer([WAY, text_turn("It is 84.")]) as server:
        command = enfilade.command(["run", "q", "-t", "calculator", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
            assert await screen.exit_code() == 0
    assert "\x1b[2m" not in screen.raw
    assert "It is 84." in screen.text


async def test_a_dumb_terminal_gets_plain_lines(enfilade: Enfilade) -> None:
    enfilade.environment["TERM"] = "dumb"
    command = enfilade.command(["run", "What is 2 * 3?", "-t", "calculator"])
    async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
        assert await screen.exit_code() == 0
    assert "\x1b" not in screen.raw
    assert "2 * 3 = 6." in screen.text


async def test_what_a_model_sends_cannot_command_the_terminal(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("\x1b]0;owned\x07 \x1b[2J done")]) as server:
        command = enfilade.command(["run", "q", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
            assert await screen.exit_code() == 0
    assert "\\x1b]0;owned\\x07 \\x1b[2J done" in screen.raw


async def test_lines_of_the_trace_are_cut_to_the_terminals_width(enfilade: Enfilade) -> None:
    way = Turn(calls=(Call("calculator", {"expression": "+".join(["1"] * 200)}),))
    async with ModelServer([way, text_turn("200.")]) as server:
        command = enfilade.command(["run", "q", "-t", "calculator", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder, columns=60) as screen:
            assert await screen.exit_code() == 0
    assert max(len(line) for line in screen.text.splitlines()) < 60


async def test_only_the_answer_goes_to_a_file_while_the_terminal_shows_the_trace(enfilade: Enfilade) -> None:
    read, write = os.pipe()
    async with ModelServer([WAY, text_turn("It is 84.")]) as server:
        command = enfilade.command(["run", "q", "-t", "calculator", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder, stdout=write) as screen:
            os.close(write)
            assert await screen.exit_code() == 0
    assert await asyncio.to_thread(os.read, read, 1000) == b"It is 84.\n"
    os.close(read)
    assert "  said: Let me see." in screen.text
    assert "It is 84." not in screen.text
