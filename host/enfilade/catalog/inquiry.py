"""Asks plugins of which only they themselves can say what they offer: programs, and plugins at an address."""

import asyncio
import logging
from collections.abc import Sequence

from enfilade.catalog.member import Member
from enfilade_sdk.errors import EnfiladeError

_log = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that a strategy which another plugin is known to offer waits for those that have not answered yet."""


class Answers:
    """What plugins said when they were asked.

    Attributes:
        names: The strategies of each one that answered.
        silence: Why others have not, in words.
    """

    def __init__(self) -> None:
        self.names: dict[Member, tuple[str, ...]] = {}
        self.silence: list[str] = []

    def remark(self) -> str:
        """The end of a 'not found' text: who could not be asked."""
        return "".join(f"\n- {reason}" for reason in self.silence)


async def ask(members: Sequence[Member], wanted: str, patience: float = PATIENCE) -> Answers:
    """Asks, all at once, those that do not say without being asked; each answer is kept.

    One that hangs holds nobody up: where another plugin offers the wanted strategy it is waited for once, and briefly.
    """
    asked = [(member, member.asked()) for member in members if not member.candidate.offers]
    offered = any(member.offers(wanted) for member in members)
    waits = [task for member, task in asked if not (offered and member.kept_waiting)]
    if waits:
        await asyncio.wait(waits, timeout=patience if offered else None)
    answers = Answers()
    for member, task in asked:
        if not task.done():
            _wait_no_more(member, patience)
        elif task.cancelled():
            answers.silence.append(f"plugin {member.candidate.plugin!r} is being stopped")
        elif isinstance(told := task.result(), EnfiladeError):
            answers.silence.append(told.message)
        else:
            answers.names[member] = told
    return answers


def _wait_no_more(member: Member, patience: float) -> None:
    if not member.kept_waiting:
        member.kept_waiting = True
        text = "plugin %r has not said within %g s what it offers; strategies that others offer do not wait for it"
        _log.warning(text, member.candidate.plugin, patience)
