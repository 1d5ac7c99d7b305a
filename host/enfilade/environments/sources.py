"""Where packages come from, and the variables that an installer is given."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from enfilade.settings.current_folder import absolute

_ALLOWED = re.compile(
    r"""
    PATH | HOME | USER | LOGNAME | TMPDIR | LANG | LC_ALL | LC_CTYPE | NETRC | XDG_(CACHE | CONFIG | DATA)_HOME
    | SSL_(CERT_FILE | CERT_DIR | CLIENT_CERT) | REQUESTS_CA_BUNDLE | (HTTP | HTTPS | ALL | NO)_PROXY
    | UV_(CACHE_DIR | DEFAULT_INDEX | INDEX | INDEX_URL | EXTRA_INDEX_URL | INDEX_STRATEGY | FIND_LINKS | NO_INDEX)
    | UV_(OFFLINE | KEYRING_PROVIDER | INSECURE_HOST | NATIVE_TLS | SYSTEM_CERTS | HTTP_TIMEOUT | HTTP_RETRIES)
    | UV_EXCLUDE_NEWER | UV_CONCURRENT_(DOWNLOADS | INSTALLS) | UV_INDEX_\w+_(USERNAME | PASSWORD)
    | PIP_(CONFIG_FILE | CACHE_DIR | INDEX_URL | EXTRA_INDEX_URL | FIND_LINKS | NO_INDEX | TRUSTED_HOST)
    | PIP_(CERT | CLIENT_CERT | PROXY | DEFAULT_TIMEOUT | RETRIES)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Variables that an installer inherits. Indexes' user names and passwords travel in them, never on a command line."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where packages come from, beside what the installer's own variables say.

    Attributes:
        find_links: Folders of wheels, or addresses of pages that link to some.
        no_index: No registry is asked.
        offline: Nothing but files and the installer's cache is used.
    """

    find_links: tuple[str, ...] = ()
    no_index: bool = False
    offline: bool = False

    def places(self, more: Iterable[Path] = ()) -> list[Path | str]:
        """Folders of wheels, and addresses of pages.

        Args:
            more: Folders to look at too; they come first.
        """
        own = [place if "://" in place else absolute(Path(place)) for place in self.find_links]
        return [*more, *own]

    def index_options(self) -> list[str]:
        """The option of uv and pip that leaves registries out."""
        return ["--no-index"] if self.no_index else []


def tool_environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """What an installer inherits: what it needs to reach packages, and nothing else of the host's.

    Args:
        variables: The host's variables; None is the process's own.
    """
    own = os.environ if variables is None else variables
    return {name: value for name, value in own.items() if _ALLOWED.fullmatch(name)}
