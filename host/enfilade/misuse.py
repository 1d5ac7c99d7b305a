"""What a program can do wrong with a host, told where it does it: what is asked of what, and on which event loop."""

import asyncio

from enfilade.agent import AgentConfig
from enfilade.briefing import Question
from enfilade.errors import MisuseError


def check_asked(agent: object, question: object) -> None:
    """Refuses what is no agent or no question.

    Raises:
        MisuseError: The text says what to make of it.
    """
    if not isinstance(agent, AgentConfig):
        made = "AgentConfig(**it)" if isinstance(agent, dict) else 'AgentConfig(model="...")'
        raise MisuseError(f"the agent: expected an AgentConfig, got {_named(agent)}; give {made}")
    if not isinstance(question, str | Question):
        raise MisuseError(f"the question: expected a text or a Question, got {_named(question)}")


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
