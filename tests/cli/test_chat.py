import signal

import pytest

from tests.support.enfilade_command import Enfilade, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import call_turn, error_turn, text_turn
from tests.support.terminal import CTRL_C, CTRL_D, terminal


def said(server: ModelServer, request: int) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in server.bodies[request]["messages"]]


async def test_each_line_is_a_question_and_the_history_goes_with_it(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("Hello Ada."), text_turn("Ada.")]) as server:
        done = await enfilade("chat", *at(server.base_url), stdin=b"I am Ada.\n\nWho am I?")
        assert said(server, 1) == [("user", "I am Ada."), ("assistant", "Hello Ada."), ("user", "Who am I?")]
    assert done.code == 0
    assert done.out == b"Hello Ada.\nAda.\n"
    assert "> " not in done.err


async def test_the_history_holds_the_answer_and_not_what_led_to_it(enfilade: Enfilade) -> None:
    way = call_turn("calculator", {"expression": "6 * 7"}, text=("Wait.",))
    async with ModelServer([way, text_turn("42."), text_turn("Yes.")]) as server:
        done = await enfilade("chat", "-t", "calculator", *at(server.base_url), stdin=b"6 * 7?\nSure?\n")
        assert said(server, 2) == [("user", "6 * 7?"), ("assistant", "42."), ("user", "Sure?")]
    assert done.out == b"42.\nYes.\n"


async def test_reset_forgets_and_exit_ends(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("One."), text_turn("Two.")]) as server:
        lines = b"first\n/reset\nsecond\n/EXIT\nthird\n"
        done = await enfilade("chat", *at(server.base_url), stdin=lines)
        assert len(server.requests) == 2
        assert said(server, 1) == [("user", "second")]
    assert done.out == b"One.\nTwo.\n"
    assert "the conversation so far is forgotten" in done.err


async def test_help_and_unknown_commands_are_answered_without_the_model(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("A path.")]) as server:
        done = await enfilade("chat", *at(server.base_url), stdin=b"/help\n/frobnicate\n/etc/passwd is what?\n")
        assert said(server, 0) == [("user", "/etc/passwd is what?")]
    assert done.out == b"A path.\n"
    assert "/reset  forget the conversation so far" in done.err
    assert "there is no command /frobnicate; the commands are: /exit" in done.err


async def test_a_question_that_fails_does_not_end_the_conversation(enfilade: Enfilade) -> None:
    async with ModelServer([error_turn(401, {"error": {"message": "who?"}}), text_turn("Better.")]) as server:
        done = await enfilade("chat", *at(server.base_url), stdin=b"first\nsecond\n")
        assert said(server, 1) == [("user", "second")]
    assert done.out == b"Better.\n"
    assert "(code: model_failed)" in done.err
    assert done.code == 1


async def test_a_line_that_is_not_utf8_is_refused_and_the_next_one_answered(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("Fine.")]) as server:
        done = await enfilade("chat", *at(server.base_url), stdin=b"caf\xe9\ncafe\n")
        assert said(server, 0) == [("user", "cafe")]
    assert "error: a line of standard input is not UTF-8 text: byte 3 is 0xe9" in done.err
    assert (done.code, done.out) == (1, b"Fine.\n")


@pytest.mark.parametrize(
    ("words", "text", "code"),
    [
        (("-s", "nonsense"), "there is no strategy 'nonsense'", 1),
        (("-m", "nonsense"), "'nonsense'", 1),
        (("-p", "nonsense=1"), "nonsense", 2),
        (("-t", "nonsense"), "nonsense", 1),
    ],
)
async def test_a_faulty_set_up_is_told_before_the_first_question(
    enfilade: Enfilade, words: tuple[str, ...], text: str, code: int
) -> None:
    done = await enfilade("chat", *words)
    assert done.code == code
    assert text in done.err
    assert "Traceback" not in done.err


async def test_sigterm_ends_the_conversation_in_the_middle_of_an_answer(enfilade: Enfilade) -> None:
    turns = [text_turn("Half", end="hang", done=False)]
    async with ModelServer(turns) as server, enfilade.running("chat", *at(server.base_url)) as running:
        running.stdin.write(b"question\n")
        await running.until(lambda: running.out == b"Half")
        running.signal(signal.SIGTERM)
        done = await running.finished()
        assert await running.survivors() == []
    assert (done.code, done.seconds < 2.0) == (143, True)


async def test_a_conversation_in_a_terminal(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("Hello Ada."), text_turn("Ada.")]) as server:
        command = enfilade.command(["chat", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
            place = await screen.until("function-calling with scripted; /help lists the commands, /exit ends.")
            place = await screen.until("> ", place)
            screen.press("I am Ada.\n")
            place = await screen.until("Hello Ada.", place)
            place = await screen.until("\n> ", place)
            screen.press("Who am I?\n")
            place = await screen.until("\nAda.\n", place)
            place = await screen.until("\n> ", place)
            screen.press(CTRL_D)
            assert await screen.exit_code() == 0
        assert said(server, 1)[1] == ("assistant", "Hello Ada.")


async def test_ctrl_c_stops_an_answer_and_the_conversation_goes_on_without_it(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("Half", end="hang", done=False), text_turn("Whole.")]) as server:
        command = enfilade.command(["chat", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
            place = await screen.until("> ")
            screen.press("first\n")
            place = await screen.until("Half", place)
            screen.press(CTRL_C)
            place = await screen.until("(code: cancelled)", place)
            place = await screen.until("\n> ", place)
            screen.press("second\n")
            place = await screen.until("Whole.", place)
            place = await screen.until("\n> ", place)
            screen.press("/exit\n")
            assert await screen.exit_code() == 0
        assert said(server, 1) == [("user", "second")]


async def test_ctrl_c_twice_ends_the_conversation(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("Half", end="hang", done=False)]) as server:
        command = enfilade.command(["chat", *at(server.base_url)])
        async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
            place = await screen.until("> ")
            screen.press("first\n")
            place = await screen.until("Half", place)
            screen.press(CTRL_C)
            place = await screen.until("\n> ", place)
            screen.press("half a line")
            await screen.until("half a line", place)
            screen.press(CTRL_C)
            assert await screen.exit_code() == 130
    assert "Traceback" not in screen.text


async def test_ctrl_c_at_the_prompt_warns_once_and_then_ends(enfilade: Enfilade) -> None:
    command = enfilade.command(["chat"])
    async with terminal(command, enfilade.variables(), enfilade.folder) as screen:
        place = await screen.until("> ")
        screen.press("half a line")
        place = await screen.until("half a line", place)
        screen.press(CTRL_C)
        place = await screen.until("(Ctrl-C again, or /exit, ends)", place)
        place = await screen.until("> ", place)
        screen.press(CTRL_C)
        assert await screen.exit_code() == 130
    assert "Traceback" not in screen.text
