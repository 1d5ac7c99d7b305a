"""The host's configuration: a TOML file, overlaid by environment variables."""

import os
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from enfilade.candidate import Isolation, plugin_key
from enfilade.errors import ConfigError
from enfilade.models.settings import ModelSettings
from enfilade.sandboxing import DEFAULT_PROFILE, Profile, Sandboxing
from enfilade.settings.faults import faults_of
from enfilade.settings.overlay import overlay
from enfilade.settings.sandbox import SandboxSettings
from enfilade.settings.toml_file import config_file, read_toml, toml_key
from enfilade.supervision import RUN_WORKERS, Scope, Supervision
from enfilade.telemetry.settings import TelemetrySettings, overlay_standard
from enfilade.tools.entry import ToolEntry
from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade.tools.limits import ToolLimits
from enfilade.tools.mcp.settings import McpSettings
from enfilade.tools.openapi.settings import OpenApiSettings


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


_OF_PROCESSES = frozenset(
    {*SandboxSettings.model_fields, *(known.name for known in fields(Supervision)), "environment"} - {"heartbeat"}
)
"""Settings of a plugin's processes, which one at an address has elsewhere."""


class PluginSettings(SandboxSettings):
    """One plugin of the configuration (`[plugins.NAME]`): an installed one's settings, or one that is elsewhere.

    Attributes:
        enabled: False leaves it out.
        isolation: `process` (default) or, as the operator's explicit choice, `inprocess`.
        address: `unix:PATH` or `grpcs://HOST:PORT` of a plugin that already runs.
        ca, certificate, key: PEM files for mutual TLS with a `grpcs://` address.
        command: A program to start that speaks the handshake, such as a plugin written in Go.
        environment: Variables to give it; nothing else is inherited.
        launcher: The way to bring it to life, by the name of one that an extension brings; empty leaves that to
            `isolation`.
        start_timeout: Seconds it has to come to life.
        scope, workers, max_runs, queue, reserve, idle_stop, heartbeat, crashes, reload: How its processes are looked
            after, see `enfilade.supervision.Supervision`. Where `workers` is not given it is 1, and 8 for `scope`
            `run`.

    How its process is confined stands in `SandboxSettings`.
    """

    enabled: bool = True
    isolation: Isolation | None = None
    launcher: str = ""
    address: str = ""
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    command: tuple[str, ...] = ()
    environment: dict[str, str] = Field(default_factory=dict)
    start_timeout: float = Field(default=10.0, gt=0)
    scope: Scope = "plugin"
    workers: int | None = Field(default=None, ge=1, le=1024)
    max_runs: int = Field(default=1000, ge=1)
    queue: int = Field(default=1000, ge=0)
    reserve: int = Field(default=1, ge=0, le=64)
    idle_stop: float = Field(default=0.0, ge=0)
    heartbeat: float = Field(default=5.0, ge=0)
    crashes: int = Field(default=3, ge=0)
    reload: bool = False

    @property
    def supervision(self) -> Supervision:
        """How its processes are looked after."""
        given = {known.name: getattr(self, known.name) for known in fields(Supervision)}
        return Supervision(**given | {"workers": self.workers or (RUN_WORKERS if self.scope == "run" else 1)})

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.address and self.command:
            raise ValueError("give address or command, not both")
        if self.address and not self.address.startswith(("unix:", "grpcs://")):
            raise ValueError(f"address must start with unix: or grpcs://, got {self.address!r}")
        if self.address and (useless := sorted(self.model_fields_set & _OF_PROCESSES)):
            raise ValueError(f"{', '.join(useless)}: not for a plugin at an address, whose process is not this host's")
        if self.isolation == "inprocess" and (asked := self.asked()):
            raise ValueError(f"{asked} needs a process; with isolation = 'inprocess' there is none")
        return self


class Limits(_Section):
    """Bounds on every run.

    Attributes:
        run_seconds: The deadline of a run that names none.
        messages: Messages a run may send.
        message_bytes: Bytes of text and blobs a run may send, all together.
        file_bytes: Bytes of one file joined from parts.
    """

    run_seconds: float = Field(default=1200.0, gt=0)
    messages: int = Field(default=1_000_000, gt=0)
    message_bytes: int = Field(default=512 * 1024 * 1024, gt=0)
    file_bytes: int = Field(default=128 * 1024 * 1024, gt=0)


class LayerSettings(BaseModel):
    """One layer (`[[layers]]`): its kind, and the options of that kind.

    Attributes:
        kind: Which layer: `limits`, `quota`, `retry`, `repetition`, `approval`, `recording`, `costs`, `telemetry`, or
            one that an extension brings.
        enabled: False leaves it out.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: str
    enabled: bool = True

    @property
    def options(self) -> dict[str, Any]:
        """What the kind itself reads."""
        return dict(self.model_extra or {})


class StoreSection(BaseModel):
    """Where records are kept (`[store]`): the kind of store, and the settings of that kind.

    Attributes:
        kind: Which store: `sql` (SQLite or PostgreSQL, see `StoreSettings`), or one that an extension brings.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: str = "sql"

    def __repr__(self) -> str:
        return f"StoreSection(kind={self.kind!r})"  # its url may hold a password

    @property
    def options(self) -> dict[str, Any]:
        """What the kind itself reads."""
        return dict(self.model_extra or {})


class MemorySettings(_Section):
    """How much of an earlier conversation a question brings along (`[memory]`): the newest whole turns that fit.

    Attributes:
        messages: The most messages; None is no limit.
        tokens: The most tokens, as estimated; None is no limit. Where neither is given, half of the model's context
            window is the limit, if that is known.
    """

    messages: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)


class Price(_Section):
    """What a model costs (`[prices.MODEL]`), in US dollars for a million tokens.

    Attributes:
        input: Of the prompt.
        output: Of the answer, the reasoning in it included.
        cached: Of the prompt's part that the provider had kept; None costs what `input` says.
    """

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached: Decimal | None = Field(default=None, ge=0)


class Config(_Section):
    """Everything a host is set up with.

    Attributes:
        default_model: The model of an agent that names none.
        default_strategy: The strategy of an agent that names none.
        isolation: How plugins run that have no setting of their own.
        sandbox: The sandbox of plugins that have no setting of their own: `none`, `standard` or `strict`.
        sandbox_required: Whether those are refused where this machine lacks a layer of it; None requires what `strict`
            has, and nothing of what `standard` has.
        models: Models by name.
        plugins: Settings of plugins by name.
        tools: Tool entries by name, for `-t NAME` and agents.
        mcp: MCP servers by name, for `-t mcp:NAME` and agents.
        openapi: HTTP interfaces with an OpenAPI document by name, for `-t openapi:NAME` and agents.
        knowledge: Knowledge bases by name, for `-t knowledge:NAME` and agents; one needs no settings to be used.
        limits: Bounds on every run.
        tool_limits: What tool calls may cost.
        layers: What stands around runs and their calls, the outermost first; None is the layer `limits` with its
            defaults, an empty list is nothing. With a `store`, `recording` stands around them, unless it is among
            them.
        store: Where records and the small storage of strategies are kept; with one, runs are recorded. None keeps the
            storage in memory, and records, where the layer `recording` asks for them, in the user's data folder.
        memory: How much of an earlier conversation a question brings along.
        prices: Prices of models that no price list knows, by the model's name here or at its provider.
        telemetry: Traces and metrics; None is none. With it, `telemetry` stands around the layers, unless it is among
            them.
        log_format: How the command writes its log: for people, or as JSON Lines. With `json`, log records know the
            run in which they are made.
    """

    default_model: str = "demo"
    default_strategy: str = "function-calling"
    isolation: Isolation = "process"
    sandbox: Profile = DEFAULT_PROFILE
    sandbox_required: bool | None = None
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    plugins: dict[str, PluginSettings] = Field(default_factory=dict)
    tools: dict[str, ToolEntry] = Field(default_factory=dict)
    mcp: dict[str, McpSettings] = Field(default_factory=dict)
    openapi: dict[str, OpenApiSettings] = Field(default_factory=dict)
    knowledge: dict[str, KnowledgeSettings] = Field(default_factory=dict)
    limits: Limits = Field(default_factory=Limits)
    tool_limits: ToolLimits = Field(default_factory=ToolLimits)
    layers: tuple[LayerSettings, ...] | None = None
    store: StoreSection | None = None
    memory: MemorySettings = Field(default_factory=MemorySettings)
    prices: dict[str, Price] = Field(default_factory=dict)
    telemetry: TelemetrySettings | None = None
    log_format: Literal["text", "json"] = "text"

    @field_validator("plugins")
    @classmethod
    def _each_once(cls, value: dict[str, PluginSettings]) -> dict[str, PluginSettings]:
        known: dict[str, str] = {}
        for name in value:
            if (first := known.setdefault(plugin_key(name), name)) != name:
                raise ValueError(f"{first!r} and {name!r} are one plugin; put the settings of both under one name")
        return value

    def sandboxing(self, plugin: str) -> Sandboxing:
        """How a plugin's process is confined, by its name however it is written."""
        return self._confinement(plugin).sandboxing(self.sandbox, required=self.sandbox_required)

    def asked_sandbox(self, plugin: str) -> str:
        """Where it is said that a plugin is to be confined, as the place has it; empty where the default alone does.

        What is said is `sandbox`, `sandbox_required` or a bound: of the plugin, or else of all plugins.
        """
        chosen = self._confinement(plugin)
        if asked := chosen.asked():
            return f"[plugins.{toml_key(plugin)}] {asked}"
        if chosen.sandbox is not None or self.sandbox == "none":
            return ""
        if "sandbox" in self.model_fields_set:
            return f'sandbox = "{self.sandbox}"'
        required = chosen.sandbox_required is None and self.sandbox_required
        return "sandbox_required = true" if required else ""

    def _confinement(self, plugin: str) -> SandboxSettings:
        key = plugin_key(plugin)
        return next((found for name, found in self.plugins.items() if plugin_key(name) == key), SandboxSettings())


def load_config(path: Path | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """Reads the configuration.

    Args:
        path: The file; None looks at `ENFILADE_CONFIG`, `./enfilade.toml`, the user's configuration folder.
        environment: The variables; None is the process's own.

    Raises:
        ConfigError: The file cannot be read, or a setting is not valid; every fault is named with its place.
    """
    variables = os.environ if environment is None else environment
    file = path or config_file(variables)
    values = read_toml(file) if file is not None else {}
    sources = overlay(values, variables, Config.model_fields)
    overlay_standard(values, variables)
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(faults_of(error, str(file or "the environment"), Config, sources)) from None
