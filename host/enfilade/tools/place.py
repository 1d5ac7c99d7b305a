"""A tool as it stands in an agent's set-up: the tool, what the user decided about it, what the model sees of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from enfilade.tools.arguments.fixed import fixed_values
from enfilade.tools.arguments.reader import ArgumentReader
from enfilade.tools.entry import ToolEntry
from enfilade.tools.json_value import clean_text
from enfilade.tools.schemas.keywords import Schema
from enfilade.tools.schemas.schema import ToolSchema
from enfilade.tools.tool import Secretive, Tool

_SECRET_NAME = re.compile(r"(?i)(secret|token|passw|credential|api_?key|access_?key|private_?key)")
_MASK = "***"


@dataclass(frozen=True, slots=True)
class PlacedTool:
    """One tool of a set-up.

    Attributes:
        tool: The tool itself.
        name: What it is called, before it is made fit for models.
        description: Words for the model.
        offered: Schema for the model.
        reader: Reads the arguments of a call.
        origin: Where it comes from, for reports.
        timeout: Seconds one call may take; None for the engine's own limit.
        secrets: Texts that no error may show.
        masked: Parameters whose values no log may show.
    """

    tool: Tool
    name: str
    description: str
    offered: Schema
    reader: ArgumentReader
    origin: str
    timeout: float | None = None
    secrets: frozenset[str] = frozenset()
    masked: frozenset[str] = frozenset()

    def for_logs(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as they may stand in a log."""
        return {name: _MASK if name in self.masked else value for name, value in arguments.items()}


def _secrets_of(tool: Tool) -> frozenset[str]:
    return tool.secrets if isinstance(tool, Secretive) else frozenset()


def placed(tool: Tool, schema: ToolSchema, entry: ToolEntry, fixed: Mapping[str, Any]) -> PlacedTool:
    """Puts a tool in its place.

    Args:
        tool: The tool.
        schema: Its schema.
        entry: What the user decided.
        fixed: Those of the entry's fixed parameters that are for this tool.

    Raises:
        InvalidParamsError: A fixed parameter does not fit, or one is missing that only the user can give.
    """
    name = entry.name or tool.name
    values = fixed_values(name, schema, fixed)
    reader = ArgumentReader(name, schema, values)
    masked = {n for n in values if _SECRET_NAME.search(n) or (n in schema.user and schema.user[n].secret)}
    words = entry.description if entry.description is not None else tool.description
    return PlacedTool(
        tool=tool,
        name=name,
        description=clean_text(words) if isinstance(words, str) else "",
        offered=reader.offered,
        reader=reader,
        origin=f"{entry.label} ({tool.provider})",
        timeout=entry.timeout if entry.timeout is not None else tool.timeout,
        secrets=_secrets_of(tool) | {value for n, value in values.items() if n in masked and isinstance(value, str)},
        masked=frozenset(masked),
    )
