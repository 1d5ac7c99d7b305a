"""`enfilade chat`: questions one after another, with the history of the conversation."""

import contextlib
import re
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from enfilade.briefing import Question
from enfilade.cli.answer import ReadyAgent, answered, ready_agent
from enfilade.cli.exit_code import DONE, FAILED
from enfilade.cli.failure import exit_code_of, failure_text
from enfilade.cli.logs import show_logs
from enfilade.cli.loop_thread import LoopThread
from enfilade.cli.options import AskOptions
from enfilade.cli.question import decoded, is_utf8
from enfilade.cli.screen import DIM, RED, ReaderGoneError, Screen
from enfilade.cli.setup import Setup, setup_of
from enfilade.cli.signals import Interrupted, Signals
from enfilade.cli.text_sink import TextSink
from enfilade.cli.tracing import caller_trace
from enfilade.cli.usage import CommandLineError
from enfilade.host import Host
from enfilade.layers.kinds import records_runs
from enfilade.outcome import Status
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.prompts import AssistantMessage, PromptMessage, UserMessage

T = TypeVar("T")

_COMMAND = re.compile(r"/[a-zA-Z]+")
_PROMPT = "> "
_ID_CHARACTERS = 12
_HELP = """/reset  forget the conversation so far
/exit   end (so does Ctrl-D)
/help   show this
Ctrl-C stops an answer; twice, it ends the conversation. All else is a question."""


def chat(options: AskOptions) -> int:
    """Holds a conversation; gives the exit code: 1 where a question that was not typed by hand failed."""
    with Signals() as signals:
        screen = Screen.claim()
        logs = show_logs(screen, verbose=options.verbose)
        try:
            setup = setup_of(options)
            logs.follow(setup.config.log_format)
            with LoopThread() as loop:
                return _held(setup, _Terminal(screen, loop, signals))
        except EnfiladeError as error:
            screen.error(failure_text(error), RED)
            return exit_code_of(error)
        except ReaderGoneError:
            return FAILED


@dataclass(frozen=True, slots=True)
class _Terminal:
    """What is written to, what does the work meanwhile, and what interrupts it."""

    screen: Screen
    loop: LoopThread
    signals: Signals

    def finish(self, work: Coroutine[Any, Any, T], *, forgiving: bool = False) -> T:
        """Waits for work, as long as nothing interrupts it."""
        return self.loop.finish(work, self.signals, forgiving=forgiving)


def _held(setup: Setup, terminal: _Terminal) -> int:
    async def opened() -> tuple[Host, ReadyAgent, bool]:
        host = Host(setup.config, further=setup.candidates)
        try:
            await host.__aenter__()
            recalls = records_runs(setup.config) and await host.remembers()
            return host, await ready_agent(host, setup), recalls
        except BaseException:
            await host.aclose()
            raise

    host, agent, recalls = terminal.finish(opened())
    try:
        return _Conversation(host, agent, setup, terminal, recalls=recalls).hold()
    finally:
        terminal.finish(host.aclose())


class _Conversation:
    def __init__(self, host: Host, agent: ReadyAgent, setup: Setup, terminal: _Terminal, *, recalls: bool) -> None:
        self._host = host
        self._agent = agent
        self._seconds = setup.seconds
        self._user = setup.user
        self._recorded = records_runs(setup.config)
        self._recalls = recalls
        self._id = setup.conversation or (_new_id() if self._recorded else None)
        self._terminal = terminal
        self._screen = terminal.screen
        self._typed = sys.stdin is not None and sys.stdin.isatty()
        self._history: list[PromptMessage] = []
        self._stopped_once = False
        self._failed = False
        self._commands: Mapping[str, Callable[[], bool]] = {
            "/exit": lambda: False,
            "/quit": lambda: False,
            "/reset": self._reset,
            "/help": self._help,
        }

    def hold(self) -> int:
        """Answers line after line until there are no more."""
        if self._recorded:
            self._screen.note(f"this is conversation {self._id}; chat --conversation {self._id} goes on with it later")
        if self._typed:
            self._screen.note(f"{self._agent.strategy} with {self._agent.model}; /help lists the commands, /exit ends.")
        while (line := self._line()) is not None and self._goes_on(line):
            pass
        return FAILED if self._failed and not self._typed else DONE

    def _goes_on(self, line: str) -> bool:
        text = line.strip()
        if not text:
            return True
        if _COMMAND.fullmatch(text):
            return self._commands.get(text.lower(), lambda: self._unknown(text))()
        self._answer(text)
        return True

    def _line(self) -> str | None:
        """The next line; None at the end."""
        while True:
            try:
                with self._terminal.signals.reading():
                    line = self._typed_line() if self._typed else self._read_line()
            except EOFError:
                return None
            except CommandLineError as error:
                self._fail(error)
            except Interrupted as interrupted:
                if interrupted.number != signal.SIGINT or not self._typed or self._stopped_once:
                    raise
                self._stopped_once = True
                self._screen.error("\n(Ctrl-C again, or /exit, ends)", DIM)
            else:
                self._stopped_once = False
                return line

    def _typed_line(self) -> str:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - gives input() its line editing
        self._screen.end_line()
        line = input(_PROMPT)
        if not is_utf8(line):
            raise CommandLineError("the line is not UTF-8 text; expected UTF-8")
        return line

    def _read_line(self) -> str:
        data = sys.stdin.buffer.readline() if sys.stdin is not None else b""
        if not data:
            raise EOFError
        return decoded(data, "a line of standard input")

    def _answer(self, text: str) -> None:
        if not self._recalls:  # else the host reads recorded turns, tool rounds included
            self._history = list(self._host.fitting(self._history, self._agent.model))
        question = Question(
            text, self._user, self._id, history=tuple(self._history), seconds=self._seconds, **caller_trace()
        )
        work = answered(self._host, self._agent, question, TextSink(self._screen))
        try:
            outcome = self._terminal.finish(work, forgiving=self._typed)
        except Interrupted as interrupted:
            if interrupted.final:
                raise
            self._stopped_once = True
            return
        if outcome.status is not Status.SUCCEEDED:
            self._failed = True
        elif not self._recalls:
            self._history += [UserMessage(content=text), AssistantMessage(content=outcome.answer)]

    def _fail(self, error: EnfiladeError) -> None:
        self._failed = True
        self._screen.error(failure_text(error), RED)

    def _reset(self) -> bool:
        self._history.clear()
        self._screen.note("the conversation so far is forgotten")
        if self._recorded:
            self._id = _new_id()
            self._screen.note(f"the former one stays in the records; this is conversation {self._id}")
        return True

    def _help(self) -> bool:
        self._screen.error(_HELP, DIM)
        return True

    def _unknown(self, text: str) -> bool:
        self._screen.note(f"there is no command {text}; the commands are: {', '.join(self._commands)}")
        return True


def _new_id() -> str:
    return uuid4().hex[:_ID_CHARACTERS]
