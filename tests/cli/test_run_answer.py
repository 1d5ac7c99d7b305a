import asyncio
import os
import sys

import pytest

from tests.support.enfilade_command import Enfilade, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import Call, Turn, call_turn, chunk, sse, text_turn

SUM = call_turn("calculator", {"expression": "12 * 7"})


async def test_the_demo_model_needs_no_set_up_and_answers_with_a_tool(enfilade: Enfilade) -> None:
    done = await enfilade("run", "What is 12 * 7?", "-t", "calculator")
    assert done.code == 0
    assert "84" in done.text
    assert done.text.endswith("\n")


async def test_only_the_answer_goes_to_a_pipe_and_the_trace_to_standard_error(enfilade: Enfilade) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    way = Turn(text=("Let me ", "see."), calls=(Call("calculator", {"expression": "12 * 7"}),), usage=usage)
    answer = text_turn("It is ", "84.", usage=usage, reasoning=("thinking hard",))
    async with ModelServer([way, answer]) as server:
        done = await enfilade("run", "12 * 7?", "-t", "calculator", *at(server.base_url))
    assert done.out == b"It is 84.\n"
    lines = done.err.splitlines()
    assert lines[0].startswith("round 1: scripted, ")
    assert lines[0].endswith("s, 10 + 3 tokens")
    assert lines[1] == "  said: Let me see."
    assert lines[2].startswith('  calculator {"expression":"12 * 7"} (')
    assert lines[2].endswith("= 84")
    assert lines[3].startswith("round 2: ")
    assert lines[4].startswith("succeeded: 2 model calls, 1 tool call, ")
    assert lines[4].endswith("26 tokens")
    assert len(lines) == 5
    assert "\x1b" not in done.err


async def test_a_run_without_tools_streams_into_a_pipe_as_it_comes(enfilade: Enfilade) -> None:
    turns = [text_turn("The first", " words", end="hang", done=False)]
    async with ModelServer(turns) as server, enfilade.running("run", "q", *at(server.base_url)) as running:
        await running.until(lambda: running.out == b"The first words")


async def test_the_round_without_tools_streams_into_a_pipe_as_it_comes(enfilade: Enfilade) -> None:
    turns = [SUM, text_turn("It is", " 84", end="hang", done=False)]
    async with ModelServer(turns) as server:
        words = ("run", "q", "-t", "calculator", "--max-iteration", "1", *at(server.base_url))
        async with enfilade.running(*words) as running:
            await running.until(lambda: running.out == b"It is 84")


async def test_what_a_tool_prints_does_not_get_among_the_results(enfilade: Enfilade) -> None:
    enfilade.write(
        "noisy.py",
        """
import os


def noisy() -> str:
    '''Makes noise.'''
    print("noise")
    os.write(1, b"loud")
    return "x"
""",
    )
    async with ModelServer([call_turn("noisy"), text_turn("Quiet.")]) as server:
        done = await enfilade("run", "q", "-t", "noisy.py:noisy", *at(server.base_url))
    assert done.out == b"Quiet.\n"
    assert "noise" in done.err
    assert "loud" in done.err


async def test_an_empty_answer_is_an_empty_line(enfilade: Enfilade) -> None:
    enfilade.write(
        "silent.py",
        """
class Silent:
    def get_parameters(self):
        return []

    def invoke(self, *, params):
        yield from ()
""",
    )
    done = await enfilade("run", "q", "-s", "silent.py:Silent")
    assert (done.code, done.out) == (0, b"\n")


async def test_the_question_is_read_from_standard_input(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("Yes.")]) as server:
        done = await enfilade("run", "-", *at(server.base_url), stdin="Größer als 1?\n".encode())
        assert server.bodies[0]["messages"] == [{"role": "user", "content": "Größer als 1?"}]
    assert done.out == b"Yes.\n"


async def test_a_question_of_2_mb_reaches_the_model_whole(enfilade: Enfilade) -> None:
    question = "ä long question. " * 120_000
    async with ModelServer([text_turn("Read.")]) as server:
        done = await enfilade("run", "-", *at(server.base_url), stdin=question.encode())
        assert server.bodies[0]["messages"][0]["content"] == question
    assert (done.code, done.out) == (0, b"Read.\n")


async def test_a_question_above_the_wire_s_limit_is_refused_with_its_size(enfilade: Enfilade) -> None:
    done = await enfilade("run", "-", "--json", stdin=b"x" * 9_000_000)
    assert done.code == 1
    assert done.outcome["error"]["code"] == "limit_exceeded"
    assert "8388608" in done.outcome["error"]["message"]


async def test_a_question_that_is_not_utf8_is_refused_with_its_place(enfilade: Enfilade) -> None:
    done = await enfilade("run", "-", stdin=b"caf\xe9?")
    assert done.code == 2
    assert "error: the question on standard input is not UTF-8 text: byte 3 is 0xe9; expected UTF-8" in done.err
    assert done.out == b""


async def test_an_argument_that_is_not_utf8_is_refused(enfilade: Enfilade) -> None:
    done = await enfilade("run", b"caf\xe9?")
    assert done.code == 2
    assert "error: the question is not UTF-8 text" in done.err


async def test_an_empty_question_is_refused(enfilade: Enfilade) -> None:
    done = await enfilade("run", "-", stdin=b"\n")
    assert done.code == 2
    assert "error: expected a question, but standard input held nothing (code: invalid_params)" in done.err


async def test_a_reader_that_goes_away_ends_the_run_quietly(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn(*["word "] * 1000, pause=0.01)]) as server:
        read, write = os.pipe()
        process = await asyncio.create_subprocess_exec(
            *enfilade.command(["run", "q", "--json", *at(server.base_url)]),
            stdout=write,
            stderr=asyncio.subprocess.PIPE,
            env=enfilade.variables(),
            cwd=enfilade.folder,
        )
        os.close(write)
        while b'"word ' not in await asyncio.to_thread(os.read, read, 65536):
            pass
        os.close(read)
        async with asyncio.timeout(20):
            _, err = await process.communicate()
        await server.until(lambda: server.dropped == 1)
    assert err == b""
    assert process.returncode == 1


def _with_streams(enfilade: Enfilade, redirections: str) -> None:
    enfilade.program = ("/bin/sh", "-c", f'exec "{sys.executable}" -m enfilade "$@" {redirections}', "sh")


@pytest.mark.parametrize(
    "words",
    [("run", "What is 1 + 1?"), ("run", "What is 1 + 1?", "--json"), ("models",), ("models", "--json"), ("-h",)],
)
async def test_a_full_disk_is_an_error_that_says_so(enfilade: Enfilade, words: tuple[str, ...]) -> None:
    _with_streams(enfilade, ">/dev/full")
    done = await enfilade(*words)
    assert done.code == 1
    assert done.err.endswith("error: cannot write to standard output: No space left on device (code: internal)\n")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("closed", [{1}, {0}, {2}, {0, 1}, {0, 1, 2}])
async def test_closed_standard_streams_do_no_harm(enfilade: Enfilade, closed: set[int]) -> None:
    _with_streams(enfilade, " ".join(f"{number}>&-" for number in closed))
    done = await enfilade("run", "What is 2 + 2?", "-t", "calculator")
    assert done.code == 0
    assert (b"2 + 2 = 4" in done.out) == (1 not in closed)
    assert ("2 model calls" in done.err) == (2 not in closed)
    assert "Traceback" not in done.err


async def test_instruction_and_parameters_reach_the_strategy(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("Aye.")]) as server:
        done = await enfilade("run", "q", "-i", "Talk like a sailor.", "-p", "parallel_tools=2", *at(server.base_url))
        assert server.bodies[0]["messages"][0] == {"role": "system", "content": "Talk like a sailor."}
        assert server.bodies[0]["model"] == "scripted"
    assert done.out == b"Aye.\n"


async def test_the_key_is_taken_from_the_variable_and_shown_nowhere(enfilade: Enfilade) -> None:
    enfilade.environment["HARBOUR_KEY"] = "sk-very-secret-0123456789"
    async with ModelServer([Turn(status=401, body={"error": {"message": "no"}})]) as server:
        done = await enfilade("run", "q", "-v", "--api-key-env", "HARBOUR_KEY", *at(server.base_url))
        assert server.requests[0].headers["authorization"] == "Bearer sk-very-secret-0123456789"
    assert done.code == 1
    assert "sk-very-secret" not in done.err


async def test_a_failed_run_keeps_the_text_that_had_come(enfilade: Enfilade) -> None:
    pieces = [sse(chunk({"content": text})) for text in ("Half an", " answer")]
    async with ModelServer([Turn(raw=pieces, end="cut")]) as server:
        done = await enfilade("run", "q", *at(server.base_url))
    assert done.code == 1
    assert done.out == b"Half an answer\n"
    assert done.err.splitlines()[-1].startswith("error: ")
    assert done.err.splitlines()[-1].endswith("(code: model_failed)")


async def test_a_run_that_takes_too_long_ends_at_its_timeout(enfilade: Enfilade) -> None:
    async with ModelServer([Turn(end="hang", done=False)]) as server:
        done = await enfilade("run", "q", "--timeout", "1", *at(server.base_url))
    assert done.code == 1
    assert "error: the run's time of 1 s is used up (code: deadline)" in done.err


async def test_files_and_values_are_told_in_a_line_each(enfilade: Enfilade) -> None:
    enfilade.write(
        "rich.py",
        """class Rich:
    def get_parameters(self):
        return []
    def invoke(self, *, params):
        yield {"type": "blob", "message": {"blob": b"12345"}, "meta": {"filename": "a.txt", "mime_type": "text/plain"}}
        yield {"type": "json", "message": {"json_object": {"depth": 5}}}
        yield {"type": "variable", "message": {"variable_name": "port", "variable_value": "Oban"}}
        yield {"type": "link", "message": {"text": "https://tides.example/oban"}}
        yield {"type": "log", "message": {"label": "CHART", "status": "success"}}
        yield "Done."
""",
    )
    done = await enfilade("run", "q", "-s", "rich.py:Rich")
    assert done.out == b"Done.\n"
    assert done.err.splitlines()[:5] == [
        "file: a.txt (text/plain), 5 bytes (--json has the data)",
        'json: {"depth":5}',
        'variable port: "Oban"',
        "link: https://tides.example/oban",
        "CHART",
    ]


async def test_verbose_shows_logs_and_what_a_plugin_prints(enfilade: Enfilade) -> None:
    enfilade.write(
        "chatty.py",
        'print("at import")\n\nclass Chatty:\n    def get_parameters(self):\n        return []\n'
        '    def invoke(self, *, params):\n        print("at work")\n        yield "ok"\n',
    )
    quiet = await enfilade("run", "q", "-s", "chatty.py:Chatty")
    assert (quiet.out, "at import" in quiet.err) == (b"ok\n", False)
    loud = await enfilade("run", "q", "-v", "-s", "chatty.py:Chatty")
    assert loud.out == b"ok\n"
    assert "enfilade.plugin.chatty.py:Chatty: at import" in loud.err
    assert "at work" in loud.err
