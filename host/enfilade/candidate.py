"""A plugin that was found and is not trusted yet."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from enfilade.sandboxing import Sandboxing
from enfilade.supervision import Supervision

Isolation = Literal["process", "inprocess"]

GROUP = "enfilade.strategies"
"""The entry-point group of strategies: name = the strategy's name, value = `package.module:Class`."""


def plugin_key(name: str) -> str:
    """A distribution's name in its canonical form (PEP 503). `packaging` has it too, at the cost of its import."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True, slots=True)
class Offer:
    """A strategy by its name and where its code is, as the metadata says: `package.module:Class`."""

    name: str
    target: str


@dataclass(frozen=True, slots=True)
class OwnEnvironment:
    """The environment that an installed plugin has for itself.

    Attributes:
        folder: What is held while the plugin may run.
        site_packages: Its packages.
        check: Refuses by raising when the environment is not what was installed; called, in a thread, before each
            start.
    """

    folder: Path
    site_packages: Path
    check: Callable[[], object] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin by what its metadata or the configuration says; none of its code has run.

    Attributes:
        plugin: The distribution's name, or the name it has in the configuration.
        version: Its version; empty when unknown.
        origin: Where it was found, in words for people.
        offers: Its strategies; empty when only the plugin itself can say.
        isolation: Whether it runs in a process of its own.
        python: The interpreter that has it installed; empty for the host's own.
        own_environment: Its environment, when it has one for itself.
        paths: Folders that go before the installed packages.
        command: A program to start instead of the SDK's server.
        address: Where it already runs: `unix:PATH` or `grpcs://HOST:PORT`.
        certificates: Files of mutual TLS for a `grpcs://` address: `ca`, `certificate`, `key`.
        environment: Variables the operator gives it.
        start_timeout: Seconds it has to come to life.
        supervision: How its processes are looked after.
        sandboxing: How its process is confined; None is as the configuration says, `standard` where there is none.
    """

    plugin: str
    version: str = ""
    origin: str = ""
    offers: tuple[Offer, ...] = ()
    isolation: Isolation = "process"
    python: str = ""
    own_environment: OwnEnvironment | None = None
    paths: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    address: str = ""
    certificates: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    start_timeout: float = 10.0
    supervision: Supervision = field(default_factory=Supervision)
    sandboxing: Sandboxing | None = None
