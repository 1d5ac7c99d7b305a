"""What the host itself brings, through the same hooks as any extension."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from enfilade.admission import Runner
from enfilade.candidate import Candidate
from enfilade.errors import ConfigError
from enfilade.extensions.commands import COMMANDS
from enfilade.hookspecs import LauncherKind, OpenStore, StoreKind, hookimpl
from enfilade.inprocess import InProcess
from enfilade.isolation.companion import Companions
from enfilade.isolation.launcher import Launcher
from enfilade.layers.builtin import BUILTIN as LAYERS
from enfilade.layers.kind import LayerKind
from enfilade.models.provider import ModelProvider
from enfilade.models.providers import PROVIDERS
from enfilade.settings.faults import faults_of
from enfilade.store.settings import StoreSettings
from enfilade.store.store import Store
from enfilade.tools.knowledge.kind import knowledge_kind
from enfilade.tools.mcp.kind import mcp_kind
from enfilade.tools.openapi.kind import openapi_kind
from enfilade.tools.registry import SourceKind, builtin_kinds


class Here:
    """Runs plugins in the host's own process."""

    def guest(self, candidate: Candidate) -> Runner:
        """What runs a plugin's strategies."""
        return InProcess(candidate)

    async def close(self) -> None:
        """Holds nothing."""


@hookimpl
def enfilade_models() -> Mapping[str, Callable[[], ModelProvider]]:
    """Models behind OpenAI-compatible endpoints, and the demo."""
    return PROVIDERS


@hookimpl
def enfilade_tools() -> Iterable[SourceKind]:
    """The built-in tools, those of MCP servers and of OpenAPI documents, and knowledge bases."""
    return [*builtin_kinds(), mcp_kind(Companions), openapi_kind(), knowledge_kind()]


@hookimpl
def enfilade_layers() -> Iterable[LayerKind]:
    """The built-in layers."""
    return LAYERS


@hookimpl
def enfilade_stores() -> Iterable[StoreKind]:
    """SQLite and PostgreSQL."""
    return [StoreKind("sql", "SQLite (a file) or PostgreSQL (by its url)", _sql)]


@hookimpl
def enfilade_launchers() -> Iterable[LauncherKind]:
    """A process of the plugin's own, an address, or the host's process."""
    return [
        LauncherKind("process", "a process of its own, or the address where it runs already", Launcher),
        LauncherKind("inprocess", "the host's own process", Here),
    ]


@hookimpl
def enfilade_commands() -> Mapping[str, str]:
    """The commands that help lists."""
    return COMMANDS


def _sql(options: Mapping[str, Any]) -> Callable[[], Awaitable[OpenStore]]:
    try:
        settings = StoreSettings.model_validate(dict(options))
    except ValidationError as error:
        raise ConfigError(faults_of(error, "[store]", StoreSettings)) from None

    async def open_store() -> OpenStore:
        return await Store.open(settings)

    return open_store
