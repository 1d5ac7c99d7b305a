from dataclasses import dataclass, field
from io import BytesIO

import pytest

from enfilade.cli.screen import Screen, Stream
from enfilade.cli.text_sink import TextSink
from enfilade.outcome import Outcome, Status
from enfilade_sdk.errors import ModelFailedError
from enfilade_sdk.messages import LogStatus, ToolInvokeMessage, finish_log, log_message, text_message


@dataclass
class Shown:
    """A sink over a screen made of two buffers."""

    out_terminal: bool = False
    err_terminal: bool = False
    together: bool = False
    colour: bool = False
    out: BytesIO = field(default_factory=BytesIO)
    err: BytesIO = field(default_factory=BytesIO)

    def sink(self, *, tools: bool = True, last_round: int | None = None) -> TextSink:
        out, err = Stream(self.out, self.out_terminal), Stream(self.err, self.err_terminal)
        screen = Screen(out, err, together=self.together, colour=self.colour)
        sink = TextSink(screen)
        sink.begin(lambda: None, tools=tools, last_round=last_round)
        return sink


def said(text: str, round_: int | None = 1) -> ToolInvokeMessage:
    return text_message(text, meta=None if round_ is None else {"round": round_})


def call(name: str = "tide") -> ToolInvokeMessage:
    return log_message(f"CALL {name}", metadata={"kind": "tool", "call_id": "c1"})


def test_text_is_held_while_its_round_may_still_call_a_tool() -> None:
    shown = Shown()
    sink = shown.sink()
    sink.message(said("Let me look."))
    assert shown.out.getvalue() == b""
    sink.message(call())
    assert shown.out.getvalue() == b""
    assert shown.err.getvalue() == b"  said: Let me look.\n"


def test_held_text_is_given_out_when_the_run_ends_without_a_call() -> None:
    shown = Shown()
    sink = shown.sink()
    sink.message(said("It is "))
    sink.message(said("84."))
    sink.end(Outcome())
    assert shown.out.getvalue() == b"It is 84.\n"


def test_held_text_of_a_run_that_failed_is_given_out_too() -> None:
    shown = Shown()
    sink = shown.sink()
    sink.message(said("It is"))
    sink.end(Outcome(status=Status.FAILED, error=ModelFailedError("the line broke")))
    assert shown.out.getvalue() == b"It is\n"
    assert shown.err.getvalue() == b"error: the line broke (code: model_failed)\n"


def test_text_of_an_earlier_round_is_not_the_answer() -> None:
    shown = Shown()
    sink = shown.sink()
    sink.message(said("First thoughts.", 1))
    sink.message(said("The answer.", 2))
    sink.end(Outcome())
    assert shown.out.getvalue() == b"The answer.\n"
    assert shown.err.getvalue().startswith(b"  said: First thoughts.\n")


@pytest.mark.parametrize(("tools", "last_round", "round_"), [(False, None, 1), (True, 2, 2), (True, None, None)])
def test_text_that_can_only_be_the_answer_is_given_out_at_once(
    tools: bool, last_round: int | None, round_: int | None
) -> None:
    shown = Shown()
    sink = shown.sink(tools=tools, last_round=last_round)
    sink.message(said("It is", round_))
    assert shown.out.getvalue() == b"It is"


def test_on_a_terminal_text_is_shown_at_once_and_the_trace_stands_on_lines_of_its_own() -> None:
    shown = Shown(out_terminal=True, err_terminal=True)
    shown.err = shown.out  # one terminal
    sink = shown.sink()
    sink.message(said("Let me look."))
    start = call()
    sink.message(start)
    sink.message(finish_log(start, data={"tool": "tide", "arguments": {"port": "Oban"}, "output": "06:10\nand 18:31"}))
    sink.message(said("At 06:10.", 2))
    sink.end(Outcome())
    terminal = shown.out.getvalue().decode().replace("tide is at work ...\r\x1b[K", "")
    assert terminal.splitlines()[:3] == ["Let me look.", '  tide {"port":"Oban"} = 06:10 and 18:31', "At 06:10."]


def test_in_one_file_answer_and_trace_have_lines_of_their_own() -> None:
    shown = Shown(together=True)
    shown.err = shown.out
    sink = shown.sink(tools=False)
    start = log_message("model", metadata={"kind": "model", "model": "demo"})
    sink.message(start)
    sink.message(said("It is 84."))
    sink.message(finish_log(start, data={"output": "It is 84."}))
    sink.end(Outcome())
    assert shown.out.getvalue().decode().splitlines()[0] == "It is 84."


def test_on_a_terminal_without_a_trace_text_said_on_the_way_is_set_apart() -> None:
    shown = Shown(out_terminal=True)
    sink = shown.sink()
    sink.message(said("Let me look."))
    sink.message(call())
    sink.message(said("At 06:10.", 2))
    sink.end(Outcome())
    assert shown.out.getvalue() == b"Let me look.\n\nAt 06:10.\n"


def test_reasoning_is_dim_on_a_terminal_and_nowhere_else() -> None:
    reasoning = text_message("Hm.", meta={"round": 1, "reasoning": True})
    shown = Shown(err_terminal=True, colour=True)
    sink = shown.sink()
    sink.message(reasoning)
    sink.message(said("Yes."))
    sink.end(Outcome())
    assert shown.err.getvalue().startswith(b"\x1b[2mHm.\x1b[0m\n")
    assert shown.out.getvalue() == b"Yes.\n"
    plain = Shown()
    plain.sink().message(reasoning)
    assert (plain.out.getvalue(), plain.err.getvalue()) == (b"", b"")


def test_what_a_model_says_cannot_command_a_terminal() -> None:
    shown = Shown(out_terminal=True, err_terminal=True)
    sink = shown.sink()
    sink.message(said("\x1b]0;owned\x07\x9b31mred\u202e\r\nnext\tcolumn"))
    sink.end(Outcome())
    assert shown.out.getvalue().decode() == "\\x1b]0;owned\\x07\\x9b31mred\\u202e\nnext\tcolumn\n"


def test_what_a_model_says_goes_to_a_file_as_it_is() -> None:
    shown = Shown()
    sink = shown.sink()
    sink.message(said("\x1b[1mbold\x1b[0m"))
    sink.end(Outcome())
    assert shown.out.getvalue() == b"\x1b[1mbold\x1b[0m\n"


def test_a_lone_surrogate_does_not_break_the_output() -> None:
    shown = Shown()
    sink = shown.sink()
    sink.message(said("half \ud83d of it"))
    sink.end(Outcome())
    assert shown.out.getvalue() == b"half \\ud83d of it\n"


def test_a_log_of_some_other_strategy_is_a_line_when_it_ends() -> None:
    shown = Shown()
    sink = shown.sink()
    step = log_message("PLAN")
    sink.message(step)
    assert shown.err.getvalue() == b""
    sink.message(finish_log(step, error="no way\nthrough", metadata={"seconds": 1.5}))
    sink.message(log_message("NOTE", status=LogStatus.SUCCESS))
    assert shown.err.getvalue() == b"PLAN, 1.50 s: no way through\nNOTE\n"
