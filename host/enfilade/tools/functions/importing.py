"""Imports the Python files that users keep their tools in."""

import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from enfilade.tools.fault import presentable
from enfilade_sdk.errors import EnfiladeError, ErrorCode


class ToolLoadError(EnfiladeError):
    """A source of tools cannot be loaded; the text names it, the reason and the place."""

    code = ErrorCode.TOOL_FAILED


class Imports:
    """Imports files and modules for one host, each file once.

    A file may import its neighbours. Where two files in different folders have neighbours of one name, each gets its
    own, provided that it imports them at its top. Folders come last in the search path, so that no neighbour stands
    in for an installed package. Not for several threads at once.
    """

    def __init__(self) -> None:
        self._files: dict[Path, ModuleType] = {}
        self._folders: list[str] = []

    def file(self, path: Path, shown: str) -> ModuleType:
        """The module of a file.

        Args:
            path: The file.
            shown: What the user called it.

        Raises:
            ToolLoadError: It raised while it was imported, or is not Python.
        """
        path = path.resolve()
        if path not in self._files:
            name = f"enfilade_tools_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
            spec = importlib.util.spec_from_file_location(name, path)
            if spec is None or spec.loader is None:
                raise ToolLoadError(f"{shown} is not a Python file")
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                with self._searching(path.parent):
                    spec.loader.exec_module(module)
            except BaseException as error:  # noqa: BLE001 - a file may also call sys.exit()
                del sys.modules[name]
                raise _load_error(error, path, shown) from None
            self._files[path] = module
        return self._files[path]

    def module(self, name: str, folder: Path) -> ModuleType:
        """An installed module, or one below the folder.

        Raises:
            ToolLoadError: There is none, or it raised while it was imported.
        """
        try:
            with self._searching(folder):
                return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and (name == error.name or name.startswith(f"{error.name}.")):
                raise ToolLoadError(
                    f"there is no module {name!r}, neither installed nor below {folder.name}/"
                ) from None
            raise _load_error(error, None, f"the module {name}") from None
        except BaseException as error:  # noqa: BLE001
            raise _load_error(error, None, f"the module {name}") from None

    def close(self) -> None:
        """Takes the folders out of the search path again."""
        for folder in self._folders:
            if folder in sys.path:
                sys.path.remove(folder)
        self._folders.clear()

    @contextmanager
    def _searching(self, folder: Path) -> Iterator[None]:
        """Puts the folder into the search path, before those of other tools and after everything else."""
        own = str(folder)
        others = [other for other in self._folders if other != own and other in sys.path]
        for other in others:
            sys.path.remove(other)
        _forget_neighbours(folder, others)
        if own not in sys.path:
            sys.path.append(own)
            if own not in self._folders:
                self._folders.append(own)
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.extend(other for other in others if other not in sys.path)


def _forget_neighbours(folder: Path, others: list[str]) -> None:
    """Lets modules of other folders go that have a namesake in this one; who imported them keeps them."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        top = name.partition(".")[0]
        is_neighbour = isinstance(file, str) and any(Path(file).is_relative_to(other) for other in others)
        if is_neighbour and ((folder / f"{top}.py").exists() or (folder / top).is_dir()):
            del sys.modules[name]


def _load_error(error: BaseException, path: Path | None, shown: str) -> EnfiladeError:
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, EnfiladeError):
        return error
    line = _line(error, path)
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    place = f"{shown}, line {line}" if line else shown
    return ToolLoadError(f"{place}: {presentable(f'{type(error).__name__}: {message}'.removesuffix(': '))}")


def _line(error: BaseException, path: Path | None) -> int | None:
    """The line in the file that led to the error; where it was another file, the line that imported that."""
    if path is None:
        return None
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None
