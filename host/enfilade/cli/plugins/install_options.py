"""How a plugin is to be installed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """What was given on the command line.

    Attributes:
        python: The Python for it: a version or a path.
        allow_build: Whether code of packages may run to build them.
        find_links: Folders of wheels to look at too.
        no_index: Whether no package index is asked.
        as_json: Whether the result is printed as JSON.
        verbose: Whether all is shown that tools and the plugin print.
    """

    python: str | None = None
    allow_build: bool = False
    find_links: tuple[str, ...] = ()
    no_index: bool = False
    as_json: bool = False
    verbose: bool = False
