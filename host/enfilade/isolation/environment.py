"""What a guest's environment holds: a short list, nothing inherited beside it."""

import os
from collections.abc import Mapping

from enfilade.isolation.guardian import MARK

LIBRARIES = "LD_LIBRARY_PATH"
"""Where some interpreters find their own library, and do not start without."""

ALLOWED = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", LIBRARIES)
"""Variables taken over from the host; none of them holds a secret."""

GUEST_PATH = "/usr/local/bin:/usr/bin:/bin"


def interpreter_environment() -> dict[str, str]:
    """All that the host's own interpreter is given when the host runs it for itself."""
    return {LIBRARIES: os.environ[LIBRARIES]} if LIBRARIES in os.environ else {}


def guest_environment(directory: str, given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a launch.

    Args:
        directory: The launch's private directory, which is its home and temporary folder too.
        given: Variables that the operator set for this plugin; they win.
    """
    environment = {name: os.environ[name] for name in ALLOWED if name in os.environ}
    environment |= {
        "PATH": GUEST_PATH,
        "HOME": directory,
        "TMPDIR": directory,
        "LANG": environment.get("LANG", "C.UTF-8"),
    }
    return environment | dict(given) | {MARK: directory}
