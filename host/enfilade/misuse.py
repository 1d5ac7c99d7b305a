"""What a program can do wrong with a host, told where it does it: what is asked of what, and on which event loop."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import ValidationError

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.config import Config
from enfilade.errors import MisuseError
from enfilade.settings.faults import faults_of
from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.invocation import File
from enfilade_sdk.prompts import PromptMessage, prompts_of


def check_config(config: object) -> None:
    """Refuses what is no configuration.

    Raises:
        MisuseError: The text says what to make of it.
    """
    if not isinstance(config, Config):
        made = "; give Config(**it)" if isinstance(config, Mapping) else ""
        raise MisuseError(f"config: expected a Config, got a {type(config).__name__}{made}")


def check_agent(agent: object) -> None:
    """Refuses what is no agent.

    Raises:
        MisuseError: The text says what to make of it.
    """
    if not isinstance(agent, AgentConfig):
        made = "AgentConfig(**it)" if isinstance(agent, Mapping) else 'AgentConfig(model="...")'
        raise MisuseError(f"the agent: expected an AgentConfig, got {_named(agent)}; give {made}")


def question_of(
    given: object, history: Iterable[object] = (), files: Iterable[object] = (), seconds: float | None = None
) -> Question:
    """The question, with earlier turns and files that were given as dicts read.

    Args:
        given: A text, or a question with everything that comes with it.
        history: Earlier turns, for a text.
        files: Files, for a text.
        seconds: The run's time, for a text.

    Raises:
        MisuseError: Something of it is something else, or is given beside a question that should hold it.
    """
    if isinstance(given, str):
        given = Question(given, history=_messages(history), files=_files(files), seconds=seconds)
    elif not isinstance(given, Question):
        raise MisuseError(f"the question: expected a text or a Question, got {_named(given)}")
    elif history or files or seconds is not None:
        raise MisuseError("history, files and timeout go with a text; a Question holds its own (timeout as `seconds`)")
    if not isinstance(given.text, str):
        raise MisuseError(f"the question's text: expected a text, got {_named(given.text)}")
    if given.seconds is not None and not _is_time(given.seconds):
        raise MisuseError(f"the run's time: expected a number of seconds above 0, got {_named(given.seconds)}")
    return replace(given, history=_messages(given.history), files=_files(given.files))


def _messages(history: Iterable[object]) -> tuple[PromptMessage, ...]:
    try:
        return tuple(prompts_of(history if isinstance(history, str) else list(history)))  # type: ignore[arg-type]  # it is read
    except InvalidParamsError as error:
        raise MisuseError(f"history: {error.message}") from None


def _files(files: Iterable[object]) -> tuple[File, ...]:
    try:
        return tuple(file if isinstance(file, File) else File.model_validate(file) for file in files)
    except ValidationError as error:
        raise MisuseError(faults_of(error, "a file of the question", File)) from None


def _is_time(seconds: object) -> bool:
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0


def _named(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} ({value!r:.60})"


class HomeLoop:
    """The event loop that a host lives on. What it holds (processes, connections, locks) waits on that loop alone."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop; the running one, where the host has none yet."""
        return self._loop or asyncio.get_running_loop()

    def enter(self) -> None:
        """Makes the running loop the host's."""
        self._loop = asyncio.get_running_loop()

    def leave(self) -> None:
        """Leaves the host without a loop."""
        self._loop = None

    def check(self) -> None:
        """Refuses another loop than the host's: it would wait for ever. Without a running loop there is no telling.

        Raises:
            MisuseError: The text says how to ask from there.
        """
        running = _running_loop()
        if running is None or running is self._loop:
            return
        if self._loop is None:
            self._loop = running
            return
        if self._loop.is_closed():
            raise MisuseError(
                "the event loop that this host was used on is closed, and its plugins went with it; use it within "
                "`async with host:`, once in each asyncio.run(...)"
            )
        raise MisuseError(
            "this host lives on another event loop; from another thread ask with "
            "asyncio.run_coroutine_threadsafe(host.ask(...), loop), or have one host for each loop "
            '(in pytest-asyncio: give the fixture and its tests the same loop_scope="...")'
        )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
