"""The folder in which Enfilade keeps what it keeps: records, knowledge bases, installed plugins, states and logs.

Records, knowledge bases and installed plugins may have places of their own (`[store] url`, `[knowledge.NAME] file`,
`ENFILADE_PLUGINS_DIR`), which go before it.
"""

import os
from pathlib import Path

from enfilade.settings.current_folder import absolute

DATA_VARIABLE = "ENFILADE_DATA_DIR"
"""The variable that names another data folder."""


def data_folder() -> Path:
    """What `ENFILADE_DATA_DIR` names, else `enfilade` in the user's data folder.

    That is in `XDG_DATA_HOME` (`~/.local/share`), `~/Library/Application Support` or `%LOCALAPPDATA%`.

    Raises:
        ConfigError: It starts from the current folder, and that was deleted or cannot be reached.
    """
    if named := os.environ.get(DATA_VARIABLE):
        return absolute(Path(named))
    from platformdirs import user_data_path

    return user_data_path("enfilade", appauthor=False)
