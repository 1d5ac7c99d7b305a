"""Sources of tools written in Python: values at hand, files, modules, entry points."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from importlib_metadata import EntryPoint

from enfilade.tools.functions.function import FunctionTool
from enfilade.tools.functions.importing import Imports, ToolLoadError
from enfilade.tools.functions.threads import Threads
from enfilade.tools.names import did_you_mean
from enfilade.tools.stock import Stock
from enfilade.tools.tool import Tool
from enfilade_sdk.errors import ToolNotFoundError


@dataclass(slots=True)
class PythonSetting:
    """What sources share.

    Attributes:
        threads: Threads for functions, and for imports.
        folder: Where relative paths start.
        timeout: Seconds one import may take.
        imports: What was imported so far.
        turn: Held while something is imported.
        sections: What the configuration holds for kinds of sources, by the kind's name and the names it uses itself:
            `[mcp.files]` is `sections["mcp"]["files"]`.
        stock: What the sources of one host have together beside this.
    """

    threads: Threads
    folder: Path
    timeout: float = 60.0
    imports: Imports = field(default_factory=Imports)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stock: Stock = field(default_factory=Stock)

    async def imported(self, shown: str, step: Callable[[], list[Tool]]) -> list[Tool]:
        """Does an import in a thread, one at a time, so that one that hangs holds up nothing for long.

        Raises:
            ToolLoadError: It does not end in time.
        """
        async with self.turn:
            thread = await self.threads.lend(f"import of {shown}")
            try:
                async with asyncio.timeout(self.timeout):
                    return await thread.run(step)
            except TimeoutError:
                raise ToolLoadError(f"{shown}: its import did not end within {self.timeout:g} s") from None
            finally:
                thread.give_back()


class ValueSource:
    """A tool or a function that is at hand."""

    def __init__(self, value: object, origin: str, threads: Threads) -> None:
        self.origin = origin
        self._value = value
        self._threads = threads

    async def load(self) -> list[Tool]:
        """The tools that the value is."""
        return tools_of(self._value, self.origin, self._threads)

    async def aclose(self) -> None:
        """Holds nothing."""


class FileSource:
    """Functions of a Python file: those named, or all public ones that it defines."""

    def __init__(self, path: str, names: Sequence[str], setting: PythonSetting) -> None:
        self.origin = f"{path}:{','.join(names)}" if names else path
        self._path = path
        self._names = names
        self._setting = setting

    async def load(self) -> list[Tool]:
        """Imports the file.

        Raises:
            EnfiladeError: There is no such file or function, or its import fails.
        """
        return await self._setting.imported(self._path, self._tools)

    def _tools(self) -> list[Tool]:
        path = self._setting.folder / Path(self._path).expanduser()
        if not path.is_file():
            raise ToolLoadError(f"there is no file {self._path!r}.{_near_files(path)}")
        module = self._setting.imports.file(path, self._path)
        names = list(self._names) or _public(module)
        if not names:
            raise ToolLoadError(f"{self._path} defines no public function; name one: {self._path}:FUNCTION")
        found = [_attribute(module, name, self._path) for name in names]
        return [tool for value in found for tool in tools_of(value, self._path, self._setting.threads)]

    async def aclose(self) -> None:
        """Holds nothing."""


class ModuleSource:
    """Functions of a module that is installed or below the current folder."""

    def __init__(self, module: str, names: Sequence[str], setting: PythonSetting) -> None:
        self.origin = f"{module}:{','.join(names)}"
        self._module = module
        self._names = names
        self._setting = setting

    async def load(self) -> list[Tool]:
        """Imports the module.

        Raises:
            EnfiladeError: There is no such module or function, or its import fails.
        """
        return await self._setting.imported(self._module, self._tools)

    def _tools(self) -> list[Tool]:
        module = self._setting.imports.module(self._module, self._setting.folder)
        found = [_attribute(module, name, self._module) for name in self._names]
        return [tool for value in found for tool in tools_of(value, self._module, self._setting.threads)]

    async def aclose(self) -> None:
        """Holds nothing."""


class EntryPointSource:
    """What an installed distribution offers under a name in the group `enfilade.tools`."""

    def __init__(self, entry_point: EntryPoint, setting: PythonSetting) -> None:
        self.origin = entry_point.name
        self._entry_point = entry_point
        self._setting = setting

    async def load(self) -> list[Tool]:
        """Imports it, and nothing else of its group.

        Raises:
            EnfiladeError: Its import fails, or what it names is not there.
        """
        return await self._setting.imported(self.origin, self._tools)

    def _tools(self) -> list[Tool]:
        dist = self._entry_point.dist
        provider = dist.metadata["Name"] if dist is not None else self.origin
        module = self._setting.imports.module(self._entry_point.module, self._setting.folder)
        value = _attribute(module, self._entry_point.attr, self._entry_point.module)
        tools = tools_of(value, provider, self._setting.threads)
        if len(tools) == 1 and isinstance(tools[0], FunctionTool):
            tools[0].name = self.origin  # what the user asked for is what the model calls
        return tools

    async def aclose(self) -> None:
        """Holds nothing."""


def tools_of(value: object, provider: str, threads: Threads) -> list[Tool]:
    """The tools that a value is: a tool, a function, or several of them.

    Raises:
        EnfiladeError: It is none of these, or a function that no model could call.
    """
    if isinstance(value, list | tuple):
        return [tool for part in value for tool in tools_of(part, provider, threads)]
    if isinstance(value, Tool) and not isinstance(value, type):
        return [value]
    if callable(value):
        return [FunctionTool(value, threads, provider=provider)]
    raise ToolLoadError(f"{provider}: a {type(value).__name__} is no tool; expected a function or a tool")


def _public(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    if isinstance(listed, list | tuple):
        return [name for name in listed if isinstance(name, str)]
    own = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return [name for name, value in own.items() if _is_own(value, module)]


def _is_own(value: object, module: ModuleType) -> bool:
    if isinstance(value, type):
        return False
    is_function = callable(value) and getattr(value, "__module__", None) == module.__name__
    return (is_function and hasattr(value, "__name__")) or isinstance(value, Tool)


def _attribute(module: ModuleType, path: str, shown: str) -> object:
    value: object = module
    for step in path.split("."):
        if not hasattr(value, step):
            raise ToolNotFoundError(f"there is no {path!r} in {shown}.{did_you_mean(step, _names(value))}")
        value = getattr(value, step)
    return value


def _names(value: object) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


def _near_files(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f" There is no folder {folder.name!r} either"
    return did_you_mean(path.name, [file.name for file in folder.glob("*.py")]) or f" It was looked for in {folder}"
