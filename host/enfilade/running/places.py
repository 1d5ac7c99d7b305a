"""Where hosts show themselves and where plugins' logs are: below the data folder.

    DATA/hosts/PID-ID/lock          locked as long as the host lives
    DATA/hosts/PID-ID/status.json   how its plugins stand
    DATA/hosts/PID-ID/requests/     what others ask of it
    DATA/hosts/PID-ID/answers/      and what came of it
    DATA/logs/PLUGIN.log            what a plugin's processes print, and their states; PLUGIN.log.1 is older

Everything is for this user only. A folder whose lock nobody holds belongs to a host that is dead, and is swept.
"""

from pathlib import Path

from enfilade.settings.data_folder import data_folder

PRIVATE = 0o700


def hosts_folder() -> Path:
    """Where hosts show themselves."""
    return data_folder() / "hosts"


def logs_folder() -> Path:
    """Where plugins' logs are."""
    return data_folder() / "logs"
