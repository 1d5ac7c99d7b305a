"""The hooks of the host. A package implements some of them and names itself in the entry-point group `enfilade`.

What an entry point names is a module or an object whose functions are marked with `hookimpl`. It is imported into the
host's own process, so it is code that the operator trusts; strategies are not extensions.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import pluggy

if TYPE_CHECKING:
    from enfilade.admission import Runner
    from enfilade.candidate import Candidate
    from enfilade.isolation.supervision.states import StateChange
    from enfilade.layers.context import RunContext
    from enfilade.layers.counts import Counts
    from enfilade.layers.kind import LayerKind
    from enfilade.layers.petition import Petitions
    from enfilade.layers.recorder import Recorder
    from enfilade.models.provider import ModelProvider
    from enfilade.outcome import Outcome
    from enfilade.storage import Storage
    from enfilade.store.conversation import Conversation, Window
    from enfilade.tools.registry import SourceKind

PROJECT = "enfilade"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class OpenStore(Protocol):
    """A store that is open. `enfilade.store.store.Store` is one."""

    @property
    def records(self) -> "Recorder":
        """Takes runs down."""
        ...

    @property
    def values(self) -> "Storage":
        """The small storage of strategies."""
        ...

    async def aclose(self) -> None:
        """Writes what waits, and closes it."""
        ...


@runtime_checkable
class RememberingStore(Protocol):
    """A store that can rebuild conversations. One that cannot brings no earlier turns."""

    async def conversation(
        self, conversation_id: str, *, user_id: str | None = None, window: "Window | None" = None
    ) -> "Conversation":
        """The newest whole turns of a user's conversation that fit."""
        ...


@runtime_checkable
class CountingStore(Protocol):
    """A store that keeps the counts of quotas. With one that does not, each host counts in memory."""

    @property
    def counts(self) -> "Counts":
        """What quotas count."""
        ...


@runtime_checkable
class PetitioningStore(Protocol):
    """A store that keeps petitions. With one that does not, nobody can be asked through the record."""

    @property
    def petitions(self) -> "Petitions":
        """Tool calls that wait for somebody's word."""
        ...


@dataclass(frozen=True, slots=True)
class StoreKind:
    """A kind of store.

    Attributes:
        name: What `kind` says in `[store]`.
        description: What it is, in a line.
        prepare: Reads the other settings of `[store]` and gives what opens the store; raises `ConfigError` where they
            do not serve.
    """

    name: str
    description: str
    prepare: Callable[[Mapping[str, Any]], Callable[[], Awaitable[OpenStore]]]


class Launching(Protocol):
    """Brings plugins to life in one way. One for each host."""

    def guest(self, candidate: "Candidate") -> "Runner":
        """What runs a plugin's strategies; it comes to life when it is first used, and `stop` ends it.

        A candidate with an environment of its own brings a check of it, which is to be called before each start.
        """
        ...

    async def close(self) -> None:
        """Gives back what it holds itself, after its guests were stopped."""
        ...


@dataclass(frozen=True, slots=True)
class LauncherKind:
    """A way to bring plugins to life.

    Attributes:
        name: What `launcher` says in `[plugins.NAME]`.
        description: What it does, in a line.
        make: Makes one for a host.
    """

    name: str
    description: str
    make: Callable[[], Launching]


@hookspec
def enfilade_models() -> "Mapping[str, Callable[[], ModelProvider]]":  # type: ignore[empty-body]  # a declaration
    """Kinds of model providers: what makes one, by the name that `provider` says in `[models.NAME]`.

    A provider is made when one of its models is first asked for, once for each host.
    """


@hookspec
def enfilade_tools() -> "Iterable[SourceKind]":  # type: ignore[empty-body]
    """Kinds of tool sources, each with the first word of its specs (`-t WORD:ARGUMENT`)."""


@hookspec
def enfilade_layers() -> "Iterable[LayerKind]":  # type: ignore[empty-body]
    """Kinds of layers, each with the name that `kind` says in `[[layers]]`; where they stand is said there too."""


@hookspec
def enfilade_stores() -> Iterable[StoreKind]:  # type: ignore[empty-body]
    """Kinds of stores, each with the name that `kind` says in `[store]`."""


@hookspec
def enfilade_launchers() -> Iterable[LauncherKind]:  # type: ignore[empty-body]
    """Ways to bring plugins to life, each with the name that `launcher` says in `[plugins.NAME]`."""


@hookspec
def enfilade_commands() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Commands of `enfilade`: where each click command is (`package.module:command`), by its name.

    It is imported when the command is used. `enfilade --help` loads no extension and does not list them.
    """


@hookspec
def enfilade_plugin_state(change: "StateChange") -> None:
    """A plugin, or one of its processes, changed its state. Called on the host's event loop: do not block."""


@hookspec
def enfilade_run_began(context: "RunContext") -> None:
    """A strategy is about to run. Called on the host's event loop: do not block."""


@hookspec
def enfilade_run_ended(context: "RunContext", outcome: "Outcome") -> None:
    """A run that began has ended, however it ended. Called on the host's event loop: do not block."""
