"""The tools that the host brings."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from enfilade.tools.builtins.calculator import calculator
from enfilade.tools.builtins.clock import current_time
from enfilade.tools.builtins.files import file_reader
from enfilade.tools.source import PythonSetting, ValueSource
from enfilade.tools.tool import ToolSource


@dataclass(frozen=True, slots=True)
class Builtin:
    """One of them.

    Attributes:
        name: The word that asks for it.
        description: What it is, for listings.
        function: Makes its function from what follows the word and the folder where relative paths start.
        argument: What follows the word and a colon; empty where nothing does.
    """

    name: str
    description: str
    function: Callable[[str, Path], Callable[..., object]]
    argument: str = ""

    def source(self, argument: str, setting: PythonSetting) -> ToolSource:
        """The source that offers it.

        Raises:
            EnfiladeError: What follows the word does not serve.
        """
        return ValueSource(self.function(argument, setting.folder), "builtin", setting.threads)


BUILTIN = (
    Builtin("calculator", "works out arithmetic exactly", lambda _argument, _folder: calculator),
    Builtin("current_time", "tells the date and time in a time zone", lambda _argument, _folder: current_time),
    Builtin(
        "read_file", "reads text files below one folder", lambda path, folder: file_reader(folder / path), "FOLDER"
    ),
)
