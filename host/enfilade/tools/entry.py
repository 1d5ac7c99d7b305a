"""A tool in an agent's set-up: which one, and what the user decided about it."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from enfilade.tools.tool import Tool

ToolLike = str | Tool | Callable[..., object]
"""A spec such as `calculator` or `tools.py:weather`; in Python also a tool or a function itself."""


class ToolEntry(BaseModel):
    """One line of an agent's tools. A plain text or function stands for an entry with nothing else set.

    Attributes:
        tool: Which tool: a spec (see `enfilade.tools.spec`), or in Python a function or `Tool`.
        name: What the model is to call it, instead of the tool's own name.
        description: Words for the model, instead of the tool's own.
        fixed: Parameters the user sets. They win over what the model gives and are not offered to it.
        enabled: Whether the agent has it at all.
        timeout: Seconds one call may take.
        required: Whether the agent is not to start without it; else a tool that cannot be loaded is only reported.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    tool: ToolLike
    name: str | None = Field(default=None, min_length=1)
    description: str | None = None
    fixed: dict[str, Any] = Field(default_factory=dict)
    enabled: bool = True
    timeout: float | None = Field(default=None, gt=0)
    required: bool = False

    @model_validator(mode="before")
    @classmethod
    def _of_short_form(cls, value: Any) -> Any:
        if isinstance(value, str | Tool) or callable(value):
            return {"tool": value}
        return value

    @property
    def label(self) -> str:
        """What the entry is called in reports: its spec, or the name of what it holds."""
        if isinstance(self.tool, str):
            return self.tool
        return str(getattr(self.tool, "name", None) or getattr(self.tool, "__name__", type(self.tool).__name__))
