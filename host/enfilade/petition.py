"""A tool call that waits for a word, and the word."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Petition:
    """A tool call that somebody has to allow.

    Attributes:
        id: Names it; unique.
        run_id: The run that asks.
        user: Whose run it is.
        plugin: The plugin whose strategy asks.
        strategy: The strategy.
        conversation: The conversation; None outside of one.
        tool: The tool.
        call_id: The id the model gave the call.
        arguments: What it is to be called with, as the model wrote it; values that the user fixed are not among them.
        asked_at: When, in seconds since 1970.
        expires_at: When it counts as refused, in seconds since 1970.
        secrets: Texts that must not stand in a record of it.
    """

    id: str
    run_id: str
    user: str
    plugin: str
    strategy: str
    conversation: str | None
    tool: str
    call_id: str
    arguments: Mapping[str, Any] | str
    asked_at: float
    expires_at: float
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def shown(self) -> str:
        """The call on one line, for people; control characters cannot hide anything of it."""
        arguments = self.arguments
        text = arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False, default=str)
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in f"{self.tool} {text}")


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody said to a petition.

    Attributes:
        allowed: Whether the call may be made.
        arguments: What it is to be made with instead; None leaves them as they are.
        reason: Why not, for the model.
    """

    allowed: bool
    arguments: Mapping[str, Any] | None = None
    reason: str = ""
