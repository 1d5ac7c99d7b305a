"""Where hosts show themselves and where plugins' logs are: below the user's data folder.

    DATA/hosts/PID-ID/lock          locked as long as the host lives
    DATA/hosts/PID-ID/status.json   how its plugins stand
    DATA/hosts/PID-ID/requests/     what others ask of it
    DATA/hosts/PID-ID/answers/      and what came of it
    DATA/logs/PLUGIN.log            what a plugin's processes print, and their states; PLUGIN.log.1 is older

Everything is for this user only. A folder whose lock nobody holds belongs to a host that is dead, and is swept.
"""

import os
from pathlib import Path

DATA_VARIABLE = "ENFILADE_DATA_DIR"
"""The variable that names another data folder."""

PRIVATE = 0o700


def data_folder() -> Path:
    """The data folder: `ENFILADE_DATA_DIR`, else `enfilade` in the user's data folder."""
    if named := os.environ.get(DATA_VARIABLE):
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("enfilade")


def hosts_folder() -> Path:
    """Where hosts show themselves."""
    return data_folder() / "hosts"


def logs_folder() -> Path:
    """Where plugins' logs are."""
    return data_folder() / "logs"
