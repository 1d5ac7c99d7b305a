"""Every bad input that the command line can be given, each with a clear error and the right exit code."""

import sys
from dataclasses import replace

import pytest

from tests.support.enfilade_command import Enfilade, Finished, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import Turn, call_turn, chunk, error_turn, events_turn, sse, text_turn


def check(done: Finished, *said: str, code: str, exit_code: int = 1) -> None:
    """One error on standard error, in words, with its code; no traceback; nothing on standard output."""
    assert done.code == exit_code
    assert done.out == b""
    assert [text for text in said if text not in done.err] == [], done.err
    assert "error: " in done.err
    assert f"(code: {code})" in done.err
    assert "Traceback" not in done.err


async def test_an_unknown_strategy_is_named_with_what_is_near(enfilade: Enfilade) -> None:
    done = await enfilade("run", "q", "-s", "function-caling")
    check(done, "'function-caling'", "did you mean 'function-calling'?", code="not_admitted")


@pytest.mark.parametrize("said", ['sandbox = "strict"', '[plugins.enfilade-fc]\nsandbox = "strict"'])
async def test_a_plugin_that_is_to_be_confined_is_not_loaded_into_this_process(enfilade: Enfilade, said: str) -> None:
    enfilade.write("enfilade.toml", said)
    done = await enfilade("run", "q", "--isolation", "inprocess")
    check(done, 'sandbox = "strict" cannot hold', "leave out `--isolation inprocess`", code="invalid_params")
    enfilade.write("enfilade.toml", "")
    done = await enfilade("run", "q", "--isolation", "inprocess")
    assert done.code == 0
    assert "sandbox" not in done.err  # it is the operator's word, and nobody had asked for another


async def test_an_unknown_model_is_named_with_what_is_near(enfilade: Enfilade) -> None:
    done = await enfilade("run", "q", "-m", "dmeo")
    check(done, "'dmeo'", "did you mean 'demo'", "--base-url", code="invalid_params")


async def test_an_unknown_tool_is_named_with_what_is_near(enfilade: Enfilade) -> None:
    done = await enfilade("run", "q", "-t", "calculater")
    check(done, "'calculater'", "calculator", code="tool_not_found")


async def test_a_tool_file_that_raises_at_import_is_named_with_its_line(enfilade: Enfilade) -> None:
    enfilade.write("broken.py", "x = 1\nraise RuntimeError('the harbour is closed')\n")
    done = await enfilade("run", "q", "-t", "broken.py:weather")
    assert done.code == 1
    assert "the harbour is closed" in done.err
    assert "broken.py" in done.err
    assert "line 2" in done.err
    assert "Traceback" not in done.err


async def test_a_tool_file_without_the_function_names_those_it_has(enfilade: Enfilade) -> None:
    enfilade.write("tide.py", 'def tide() -> str:\n    """Tells the tide."""\n    return "high"\n')
    done = await enfilade("run", "q", "-t", "tide.py:tyde")
    assert done.code == 1
    assert "tyde" in done.err
    assert "'tide'" in done.err or " tide" in done.err


async def test_two_tools_of_one_name_are_refused_with_both_origins(enfilade: Enfilade) -> None:
    for name in ("one", "two"):
        enfilade.write(f"{name}.py", 'def tide() -> str:\n    """Tells the tide."""\n    return "high"\n')
    done = await enfilade("run", "q", "-t", "one.py:tide", "-t", "two.py:tide")
    check(done, "two tools are named 'tide'", "one.py", "two.py", code="invalid_params")


async def test_several_bad_parameters_are_told_at_once(enfilade: Enfilade) -> None:
    words = ("-p", "parallel_tools=99", "-p", "on_limt=raise", "-p", "last_round=never", "-p", "max_iteration=x")
    done = await enfilade("run", "q", *words)
    check(done, "(4 faults)", "parallel_tools", "did you mean 'on_limit'?", "last_round", "max_iteration",
          code="invalid_params", exit_code=2)  # fmt: skip


async def test_a_parameter_given_in_two_ways_is_refused(enfilade: Enfilade) -> None:
    done = await enfilade("run", "q", "--max-iteration", "100")
    said = "--max-iteration does not fit the strategy: max_iteration: expected a number from 0 to 99"
    check(done, said, "give at most 99", exit_code=2, code="invalid_params")
    done = await enfilade("run", "q", "--max-iteration", "3", "-p", "max_iteration=5")
    check(done, "max_iteration was given twice", code="invalid_params", exit_code=2)


async def test_a_faulty_configuration_is_named_with_file_and_place(enfilade: Enfilade) -> None:
    enfilade.write("enfilade.toml", "isolation = 'moat'\n[models.a]\ntols = true\n")
    done = await enfilade("run", "q")
    check(done, "enfilade.toml has 2 fault(s)", "isolation", "models.a.tols", code="invalid_params")


async def test_a_file_that_is_no_toml_is_named_with_its_line(enfilade: Enfilade) -> None:
    enfilade.write("agent.toml", "strategy = \n")
    done = await enfilade("run", "q", "-a", "agent.toml")
    check(done, "agent.toml is not valid TOML", "line 1", code="invalid_params")


async def test_a_key_variable_that_is_not_set_is_named(enfilade: Enfilade) -> None:
    async with ModelServer([text_turn("x")]) as server:
        done = await enfilade("run", "q", "--api-key-env", "HARBOUR_KEY", *at(server.base_url))
    check(done, "HARBOUR_KEY", code="model_failed")


# ------------------------------------------------------------------------------------------- the endpoint

HEAD = sse(chunk({"role": "assistant", "content": "Half"}))
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "calculator", "arguments": '{"expr'}}
HTML = "<html><head><title>Bad gateway</title></head><body><h1>The proxy is tired</h1></body></html>"
FAULTS = {
    "401": (error_turn(401, {"error": {"message": "Incorrect key provided"}}), ("401", "Incorrect key provided")),
    "429": (
        error_turn(429, {"error": {"message": "Slow down"}}, headers={"retry-after": "0"}),
        ("429", "Slow down"),
    ),
    "500": (error_turn(500, {"error": {"message": "on fire"}}), ("500", "on fire")),
    "html with an error": (error_turn(502, HTML), ("502", "The proxy is tired")),
    "html for an answer": (Turn(body=HTML), ("The proxy is tired",)),
    "an empty stream": (events_turn(done=False), ()),
    "only the end of a stream": (events_turn(done=True), ()),
    "an error object in the stream": (
        events_turn({"error": {"message": "context length exceeded", "code": "too_long"}}, done=False),
        ("context length exceeded",),
    ),
    "a chunk that is no json": (events_turn("{broken", done=False), ()),
    "cut off in a call": (Turn(raw=[sse(chunk({"role": "assistant", "tool_calls": [CALL]}))], end="cut"), ()),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_each_fault_of_an_endpoint_is_told_in_words(enfilade: Enfilade, name: str) -> None:
    turn, said = FAULTS[name]
    enfilade.write("enfilade.toml", '[models.scripted]\nmax_retries = 1\nbase_url = "http://127.0.0.1:1/v1"\n')
    async with ModelServer([turn], repeat_last=True) as server:
        done = await enfilade("run", "q", "-t", "calculator", *at(server.base_url))
        check(done, "scripted", server.base_url, *said, code="model_failed")


async def test_an_endpoint_that_is_down_is_named(enfilade: Enfilade) -> None:
    async with ModelServer([]) as server:
        address = server.base_url
    enfilade.write("enfilade.toml", '[models.scripted]\nmax_retries = 0\nbase_url = "http://127.0.0.1:1/v1"\n')
    check(await enfilade("run", "q", *at(address)), "scripted", address, code="model_failed")


async def test_a_stream_cut_in_mid_text_keeps_the_text_and_fails(enfilade: Enfilade) -> None:
    async with ModelServer([Turn(raw=[HEAD], end="cut")]) as server:
        done = await enfilade("run", "q", *at(server.base_url))
    assert (done.code, done.out) == (1, b"Half\n")
    assert "(code: model_failed)" in done.err


# ------------------------------------------------------------------------------------------- the plugin

PLUGINS = {
    "cannot be imported": ("raise RuntimeError('no chart table')", "x:X", ("no chart table",)),
    "lacks a module": ("import no_such_module_at_all", "x:X", ("no_such_module_at_all",)),
    "lacks the class": ("", "x:X", ("X",)),
    "has the wrong signature": (
        "class X:\n    def get_parameters(self): return []\n    def invoke(self, *, question): yield question",
        "x:X",
        ("'question'", "does not fit the contract"),
    ),
    "has no methods": ("class X: pass", "x:X", ("get_parameters", "invoke")),
    "exits at import": ("import os\nprint('adieu', flush=True)\nos._exit(3)", "x:X", ("exit code 3", "adieu")),
    "raises SystemExit at import": ("raise SystemExit(4)", "x:X", ("SystemExit: 4",)),
}


@pytest.mark.parametrize("name", PLUGINS)
async def test_each_fault_of_a_plugin_is_told_in_words(enfilade: Enfilade, name: str) -> None:
    source, target, said = PLUGINS[name]
    enfilade.write("x.py", source + "\n")
    done = await enfilade("run", "q", "-s", target)
    assert done.code == 1
    assert done.out == b""
    assert [text for text in said if text not in done.err] == [], done.err
    assert done.err.startswith("error: ")
    assert "(code: " in done.err


async def test_a_plugin_that_prints_at_import_works_all_the_same(enfilade: Enfilade) -> None:
    enfilade.write(
        "x.py",
        "print('1|1|unix|/tmp/x|grpc|')\nclass X:\n    def get_parameters(self): return []\n"
        "    def invoke(self, *, params): yield 'fine'\n",
    )
    done = await enfilade("run", "q", "-s", "x:X")
    assert (done.code, done.out) == (0, b"fine\n")


async def test_a_plugin_that_needs_a_newer_protocol_says_which(enfilade: Enfilade) -> None:
    enfilade.write("newer.sh", "#!/bin/sh\necho '1|7|unix|/tmp/none|grpc|'\nexec sleep 60\n").chmod(0o755)
    enfilade.write("enfilade.toml", f'[plugins.newer]\ncommand = ["{enfilade.folder}/newer.sh"]\n')
    done = await enfilade("plugins", "check", "newer")
    assert done.code == 1
    assert "protocol 7" in done.text
    assert "Traceback" not in done.err


async def test_a_tool_result_of_50_mb_becomes_an_error_the_model_is_told(enfilade: Enfilade) -> None:
    enfilade.write("big.py", 'def big() -> str:\n    """Gives much."""\n    return "x" * 50_000_000\n')
    async with ModelServer([call_turn("big"), text_turn("Too much.")]) as server:
        done = await enfilade("run", "q", "-t", "big.py:big", *at(server.base_url))
        told = server.bodies[1]["messages"][-1]
    assert (done.code, done.out) == (0, b"Too much.\n")
    assert told["role"] == "tool"
    assert "50,000,000 bytes" in told["content"]
    assert "limit" in told["content"]


async def test_a_tool_result_that_is_not_utf8_does_no_harm(enfilade: Enfilade) -> None:
    enfilade.write("raw.py", 'def raw() -> bytes:\n    """Gives bytes."""\n    return b"\\xff\\xfe\\x00 raw"\n')
    async with ModelServer([call_turn("raw"), text_turn("Got it.")]) as server:
        done = await enfilade("run", "q", "--json", "-t", "raw.py:raw", *at(server.base_url))
    assert done.code == 0
    assert done.outcome["answer"] == "Got it."


@pytest.mark.parametrize(
    "words",
    [
        ("run", "q"),
        ("run", "q", "-s", "mine.py:Mine"),
        ("tools",),
        ("knowledge", "list"),
        ("plugins", "add", "./mine"),
    ],
)
async def test_a_current_folder_that_was_deleted_is_told(enfilade: Enfilade, words: tuple[str, ...]) -> None:
    leave = (
        "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); "
        "os.execv(sys.executable, [sys.executable, '-m', 'enfilade', *sys.argv[1:]])"
    )
    done = await replace(enfilade, program=(sys.executable, "-c", leave))(*words)
    check(done, "error: the current folder was deleted; change to one that is there (cd)", code="invalid_params")
