"""Knows every kind of source that a spec can name, and which tools are at hand."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from importlib_metadata import EntryPoint, entry_points

from enfilade.tools.builtins.kinds import BUILTIN
from enfilade.tools.entry import ToolLike
from enfilade.tools.functions.threads import Threads
from enfilade.tools.names import did_you_mean
from enfilade.tools.source import EntryPointSource, FileSource, ModuleSource, PythonSetting, ValueSource
from enfilade.tools.spec import FileSpec, ModuleSpec, NamedSpec, read_spec
from enfilade.tools.tool import ToolSource
from enfilade_sdk.errors import InvalidParamsError, ToolNotFoundError

GROUP = "enfilade.tools"
"""The entry-point group under which distributions offer tools."""

SourceFactory = Callable[[str, PythonSetting], ToolSource]
"""Makes the source of a kind from what follows the kind's name in a spec."""


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source, and the first word of its specs.

    Attributes:
        name: The word, such as `read_file` in `read_file:notes`.
        factory: Makes the source.
        description: What it is, for listings.
        argument: What follows the word and a colon; empty where nothing does.
        origin: Who brings it, for listings.
    """

    name: str
    factory: SourceFactory
    description: str
    argument: str = ""
    origin: str = "builtin"


@dataclass(frozen=True, slots=True)
class AvailableTool:
    """A tool that can be asked for.

    Attributes:
        spec: How to ask for it.
        description: What it is; empty where only importing it would tell.
        origin: `builtin`, or the distribution that offers it.
    """

    spec: str
    description: str
    origin: str


class SourceRegistry:
    """Finds the source of a spec.

    Args:
        folder: Where relative paths start.
        threads: Threads for functions.
        load_timeout: Seconds one import may take.
        installed: Entry points of the group; those of this environment by default. Only their metadata is read.
        kinds: The kinds of sources; the built-in ones by default.
        sections: What the configuration holds for kinds of sources, by the kind's name.
    """

    def __init__(
        self,
        folder: Path,
        threads: Threads,
        *,
        load_timeout: float = 60.0,
        installed: Iterable[EntryPoint] | None = None,
        kinds: Iterable[SourceKind] | None = None,
        sections: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._setting = PythonSetting(threads=threads, folder=folder, timeout=load_timeout, sections=sections or {})
        self._kinds: dict[str, SourceKind] = {}
        self._installed = list(entry_points(group=GROUP) if installed is None else installed)
        for kind in builtin_kinds() if kinds is None else kinds:
            self.register(kind)

    @property
    def threads(self) -> Threads:
        """The threads that functions run in."""
        return self._setting.threads

    def register(self, kind: SourceKind) -> None:
        """Adds a kind of source.

        Raises:
            InvalidParamsError: There is one of that name.
        """
        if kind.name in self._kinds:
            raise InvalidParamsError(f"two kinds of tool sources are named {kind.name!r}")
        self._kinds[kind.name] = kind

    def source(self, tool: ToolLike) -> ToolSource:
        """The source of a spec, not loaded yet.

        Raises:
            EnfiladeError: Nothing of that name is known, the text names near matches; or the spec lacks a part.
        """
        if not isinstance(tool, str):
            origin = str(getattr(tool, "provider", None) or "python")
            return ValueSource(tool, origin, self._setting.threads)
        spec = read_spec(tool, self._kinds)
        if isinstance(spec, FileSpec):
            return FileSource(spec.path, spec.functions, self._setting)
        if isinstance(spec, ModuleSpec):
            return ModuleSource(spec.module, spec.functions, self._setting)
        return self._named(spec)

    def available(self) -> list[AvailableTool]:
        """What can be asked for by name, in order of the names."""
        kinds = [
            AvailableTool(f"{kind.name}:{kind.argument}" if kind.argument else kind.name, kind.description, kind.origin)
            for kind in self._kinds.values()
        ]
        offered = [AvailableTool(point.name, "", _distribution(point)) for point in self._installed]
        return sorted([*kinds, *offered], key=lambda tool: tool.spec)

    def close(self) -> None:
        """Lets the threads go and gives back what imports hold; for after the last engine is closed."""
        self._setting.threads.close()
        self._setting.imports.close()

    def _named(self, spec: NamedSpec) -> ToolSource:
        kind = self._kinds.get(spec.name)
        if kind is not None:
            _check_argument(kind, spec)
            return kind.factory(spec.argument, self._setting)
        points = [point for point in self._installed if point.name == spec.name]
        if len(points) > 1:
            origins = " and ".join(_distribution(point) for point in points)
            raise InvalidParamsError(f"the tool {spec.name!r} is offered by {origins}; uninstall all but one")
        if points and not spec.argument:
            return EntryPointSource(points[0], self._setting)
        names = [*self._kinds, *(point.name for point in self._installed)]
        near = did_you_mean(spec.name, names)
        known = f" Known are: {', '.join(names)}." if not near else ""
        raise ToolNotFoundError(
            f"there is no tool {spec.name!r}.{near}{known} "
            "A function of your own is FILE.py:FUNCTION or MODULE:FUNCTION"
        )


def builtin_kinds() -> list[SourceKind]:
    """The kinds that the host brings."""
    return [SourceKind(kind.name, kind.source, kind.description, kind.argument) for kind in BUILTIN]


def _check_argument(kind: SourceKind, spec: NamedSpec) -> None:
    if kind.argument and not spec.argument:
        raise InvalidParamsError(f"the tool {kind.name!r} needs to know more: {kind.name}:{kind.argument}")
    if spec.argument and not kind.argument:
        raise InvalidParamsError(f"the tool {kind.name!r} takes nothing after its name, got {spec.argument!r}")


def _distribution(point: EntryPoint) -> str:
    return (
        re.sub(r"\s+", " ", str(point.dist.metadata["Name"])) if point.dist is not None else "an unknown distribution"
    )
