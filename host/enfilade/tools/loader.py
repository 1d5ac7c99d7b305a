"""From an agent's list of tools to the engine that runs them."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.fault import presentable
from enfilade.tools.functions.importing import ToolLoadError
from enfilade.tools.limits import ToolLimits
from enfilade.tools.names import did_you_mean
from enfilade.tools.place import PlacedTool, placed
from enfilade.tools.registry import SourceRegistry
from enfilade.tools.report import LoadReport, Refusal
from enfilade.tools.schemas.schema import ToolSchema, tool_schema
from enfilade.tools.tool import Tool, ToolSource
from enfilade_sdk.errors import EnfiladeError, ErrorCode, InvalidParamsError


@dataclass(slots=True)
class _Loaded:
    tools: list[PlacedTool] = field(default_factory=list)
    sources: list[ToolSource] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def load_tools(
    entries: Iterable[ToolEntry], registry: SourceRegistry, limits: ToolLimits | None = None
) -> ToolEngine:
    """Loads the tools of an agent. The engine closes their sources.

    A source or tool that cannot be had is in the engine's report, with the reason, and the others stay.

    Args:
        entries: The tools; those that are not enabled are passed over.
        registry: Finds the sources.
        limits: What calls may cost.

    Raises:
        EnfiladeError: An entry that is `required` cannot be had, or two tools have one name.
    """
    limits = limits or ToolLimits()
    wanted = _once(entry for entry in entries if entry.enabled)
    loaded = _Loaded()
    try:
        found = await asyncio.gather(
            *(_load(entry, registry, loaded, limits) for entry in wanted), return_exceptions=True
        )
        for entry, tools in zip(wanted, found, strict=True):
            _place_all(entry, tools, loaded)
        _check_names(loaded.tools)
    except BaseException:
        await asyncio.gather(*(source.aclose() for source in loaded.sources), return_exceptions=True)
        raise
    report = LoadReport(tuple(loaded.refusals), tuple(loaded.notes))
    return ToolEngine(loaded.tools, limits=limits, threads=registry.threads, sources=loaded.sources, report=report)


def _once(entries: Iterable[ToolEntry]) -> Sequence[ToolEntry]:
    """Without entries that say the same as an earlier one; `required` holds if one of them says so."""
    kept: list[ToolEntry] = []
    for entry in entries:
        same = [
            place for place, other in enumerate(kept) if other == entry.model_copy(update={"required": other.required})
        ]
        if not same:
            kept.append(entry)
        elif entry.required:
            kept[same[0]] = entry
    return kept


async def _load(entry: ToolEntry, registry: SourceRegistry, loaded: _Loaded, limits: ToolLimits) -> list[Tool]:
    source = registry.source(entry.tool)
    loaded.sources.append(source)
    try:
        async with asyncio.timeout(limits.load_timeout * 2):  # sources have limits of their own; this is the last one
            tools = await source.load()
    except TimeoutError:
        raise ToolLoadError(f"{entry.label} did not load within {limits.load_timeout * 2:g} s") from None
    if not tools:
        raise ToolLoadError(f"{entry.label} offers no tools")
    return tools


def _place_all(entry: ToolEntry, tools: list[Tool] | BaseException, loaded: _Loaded) -> None:
    if isinstance(tools, BaseException):
        _refuse(entry, "", tools, loaded)
        return
    try:
        schemas = _schemas(entry, tools, loaded)
        _check_entry(entry, schemas)
    except EnfiladeError as error:
        _refuse(entry, "", error, loaded)
        return
    for tool, schema in schemas:
        fixed = {name: value for name, value in entry.fixed.items() if len(tools) == 1 or name in schema.properties}
        try:
            loaded.tools.append(placed(tool, schema, entry, fixed))
        except EnfiladeError as error:
            _refuse(entry, tool.name, error, loaded)
        else:
            loaded.notes += [f"the tool {tool.name!r} of {entry.label}: {note}" for note in schema.notes]


def _schemas(entry: ToolEntry, tools: list[Tool], loaded: _Loaded) -> list[tuple[Tool, ToolSchema]]:
    schemas, faults = [], []
    for tool in tools:
        try:
            schemas.append((tool, tool_schema(tool.schema)))
        except EnfiladeError as error:
            faults.append((tool, error))
    # one odd tool among those of a server is no reason to do without the server
    lenient = entry.model_copy(update={"required": entry.required and not schemas})
    for tool, fault in faults:
        _refuse(lenient, tool.name, fault, loaded)
    return schemas


def _check_entry(entry: ToolEntry, schemas: list[tuple[Tool, ToolSchema]]) -> None:
    if len(schemas) < 2:  # noqa: PLR2004 - a single tool's entry is checked where it is placed
        return
    if entry.name is not None or entry.description is not None:
        raise InvalidParamsError(
            f"{entry.label} has {len(schemas)} tools ({', '.join(tool.name for tool, _ in schemas)}); "
            "name and description are for an entry with one"
        )
    known = {name for _, schema in schemas for name in schema.properties}
    for name in entry.fixed:
        if name not in known:
            raise InvalidParamsError(f"no tool of {entry.label} has a parameter {name!r}.{did_you_mean(name, known)}")


def _refuse(entry: ToolEntry, tool: str, error: BaseException, loaded: _Loaded) -> None:
    if entry.required or not isinstance(error, Exception):
        raise _named(entry, tool, error)
    if isinstance(error, EnfiladeError):
        loaded.refusals.append(Refusal(entry.label, error.message, tool, error.code.value))
    else:
        reason = presentable(f"{type(error).__name__}: {error}")
        loaded.refusals.append(Refusal(entry.label, reason, tool, ErrorCode.TOOL_FAILED.value))


def _named(entry: ToolEntry, tool: str, error: BaseException) -> BaseException:
    """The error with the tool's name in its text."""
    if not isinstance(error, Exception):
        return error
    if not isinstance(error, EnfiladeError):
        return ToolLoadError(f"{entry.label}: {presentable(f'{type(error).__name__}: {error}')}")
    if tool and tool not in error.message:
        return type(error)(f"the tool {tool!r} of {entry.label}: {error.message}", details=error.details)
    return error


def _check_names(tools: Sequence[PlacedTool]) -> None:
    first: dict[str, PlacedTool] = {}
    for tool in tools:
        other = first.setdefault(tool.name, tool)
        if other is not tool:
            raise InvalidParamsError(
                f"two tools are named {tool.name!r}: one from {other.origin} and one from {tool.origin}; "
                "leave one out, or give one another name in its entry"
            )
