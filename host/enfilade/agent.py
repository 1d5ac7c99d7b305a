"""An agent's set-up as a value."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from enfilade.errors import ConfigError
from enfilade.settings.faults import faults_of
from enfilade.settings.toml_file import read_toml
from enfilade.tools.entry import ToolEntry

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\}")


class AgentConfig(BaseModel):
    """Which strategy thinks, with which model, tools and instruction. Can be written as a TOML file.

    Attributes:
        strategy: An installed strategy's name, or `auto`: function calling where the model can call tools, else
            chain of thought. Empty leaves it to the host's configuration.
        model: A model's name in the configuration; empty is the default one.
        provider: The kind of provider, for a model that the configuration does not have.
        prompt: The instruction; `{{name}}` is filled from `inputs`.
        inputs: Values for the instruction.
        tools: Which tools, each an entry or just its name.
        max_iteration: Rounds in which tools may be called; None leaves it to the strategy.
        parameters: Further parameters of the strategy.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: str = ""
    model: str = ""
    provider: str = ""
    prompt: str = ""
    inputs: dict[str, Any] = Field(default_factory=dict)
    tools: tuple[ToolEntry, ...] = ()
    max_iteration: int | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)

    @field_validator("tools", mode="before")
    @classmethod
    def _entries(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return tuple({"tool": entry} if isinstance(entry, str) else entry for entry in value)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads an agent file.

        Raises:
            ConfigError: It cannot be read, or is not valid; every fault is named with its place.
        """
        try:
            return cls.model_validate(read_toml(path))
        except ValidationError as error:
            raise ConfigError(faults_of(error, str(path), cls)) from None

    def instruction(self) -> str:
        """The prompt with its variables filled, each value as it is, never expanded twice."""
        return fill(self.prompt, self.inputs)


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Puts values in the place of `{{name}}`; a name without a value stays as it is."""

    def value_of(found: re.Match[str]) -> str:
        name = found.group(1)
        return str(values[name]) if name in values else found.group()

    return _VARIABLE.sub(value_of, template)
