import json

import pytest

from tests.support.enfilade_command import Enfilade, at
from tests.support.model_server import ModelServer
from tests.support.model_turns import Call, Turn, call_turn, calls_turn, text_turn

KEYS = {"status", "answer", "text", "files", "json", "variables", "usage", "rounds", "retriever_resources", "error"}


async def test_each_message_is_a_line_and_the_outcome_the_last(enfilade: Enfilade) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    way = Turn(text=("Let me see.",), calls=(Call("calculator", {"expression": "12 * 7"}),), usage=usage)
    async with ModelServer([way, text_turn("It is ", "84.", usage=usage)]) as server:
        done = await enfilade("run", "12 * 7?", "-t", "calculator", "--json", *at(server.base_url))
    assert done.code == 0
    assert done.err == ""
    *messages, last = done.lines
    assert all(set(message) == {"type", "message", "meta"} for message in messages)
    assert "".join(m["message"]["text"] for m in messages if m["meta"] == {"round": 1}) == "Let me see."
    assert "".join(m["message"]["text"] for m in messages if m["meta"] == {"round": 2}) == "It is 84."
    assert {m["message"]["label"] for m in messages if m["type"] == "log"} >= {"ROUND 1", "CALL calculator", "ROUND 2"}
    assert set(last) == {"type", "outcome"}
    assert last["outcome"].keys() >= KEYS
    assert last["outcome"]["status"] == "succeeded"
    assert last["outcome"]["answer"] == "It is 84."
    assert last["outcome"]["text"] == "Let me see.It is 84."
    assert last["outcome"]["error"] is None
    assert last["outcome"]["usage"]["total_tokens"] == 26
    assert last["outcome"]["rounds"][0]["calls"][0]["result"] == "84"


async def test_lines_leave_as_they_come(enfilade: Enfilade) -> None:
    turns = [text_turn("The first", end="hang", done=False)]
    async with ModelServer(turns) as server, enfilade.running("run", "q", "--json", *at(server.base_url)) as running:
        await running.until(lambda: b'"The first"' in running.out)
        assert running.out.endswith(b"\n")


async def test_a_failed_run_ends_with_an_outcome_that_has_what_came_before(enfilade: Enfilade) -> None:
    turns = [call_turn("calculator", {"expression": "6 * 7"}), Turn(status=500, body={"error": {"message": "on fire"}})]
    enfilade.write("enfilade.toml", '[models.frail]\nmax_retries = 0\nbase_url = "http://127.0.0.1:1/v1"\n')
    async with ModelServer(turns) as server:
        words = ("-m", "frail", "--base-url", server.base_url)
        done = await enfilade("run", "q", "-t", "calculator", "--json", *words)
    assert done.code == 1
    assert done.err == ""
    assert done.outcome["status"] == "failed"
    assert done.outcome["error"]["code"] == "model_failed"
    assert "on fire" in done.outcome["error"]["message"]
    assert done.outcome["rounds"][0]["calls"][0]["result"] == "42"


async def test_a_run_that_does_not_come_about_has_an_outcome_too(enfilade: Enfilade) -> None:
    done = await enfilade("run", "q", "--json", "-s", "function-caling")
    assert done.code == 1
    assert done.err == ""
    assert [line["type"] for line in done.lines] == ["outcome"]
    assert done.outcome.keys() >= KEYS
    assert done.outcome["status"] == "failed"
    assert done.outcome["error"]["code"] == "not_admitted"


async def test_a_fault_of_the_command_line_is_told_in_the_outcome_and_ends_with_2(enfilade: Enfilade) -> None:
    done = await enfilade("run", "-", "--json", stdin=b"\xff\xfe")
    assert done.code == 2
    assert done.outcome["error"]["code"] == "invalid_params"


async def test_a_deadline_is_a_failure_with_its_code(enfilade: Enfilade) -> None:
    choice = {"index": 0, "delta": {"content": "Slow"}, "finish_reason": None}
    async with ModelServer([Turn(events=[{"choices": [choice]}], end="hang", done=False)]) as server:
        done = await enfilade("run", "q", "--json", "--timeout", "5", *at(server.base_url))
    assert done.code == 1
    assert done.outcome["error"]["code"] == "deadline"
    assert done.outcome["answer"] == "Slow"


async def test_what_is_not_json_in_a_strategys_data_does_not_break_a_line(enfilade: Enfilade) -> None:
    enfilade.write(
        "odd.py",
        """
class Odd:
    def get_parameters(self):
        return []

    def invoke(self, *, params):
        yield {"type": "variable", "message": {"variable_name": "share", "variable_value": float("nan")}}
        yield {"type": "log", "message": {"label": "ODD", "data": {"value": {1, 2}, "thing": object()}}}
        yield {"type": "blob", "message": {"blob": b"\\xff\\x00"}, "meta": {"mime_type": "application/octet-stream"}}
        yield "done \\ud83d"
""",
    )
    done = await enfilade("run", "q", "--json", "-s", "odd.py:Odd", "--isolation", "inprocess")
    for line in done.out.splitlines():
        json.loads(line, parse_constant=pytest.fail)
    assert done.code == 0
    assert done.outcome["files"][0]["data"] == "/wA="


async def test_all_calls_of_a_round_stand_in_the_outcome(enfilade: Enfilade) -> None:
    calls = calls_turn(
        Call("calculator", {"expression": "1 + 1"}, "a"), Call("calculator", {"expression": "2 + 2"}, "b")
    )
    async with ModelServer([calls, text_turn("2 and 4.")]) as server:
        done = await enfilade("run", "q", "--json", "-t", "calculator", *at(server.base_url))
    assert [call["result"] for call in done.outcome["rounds"][0]["calls"]] == ["2", "4"]
