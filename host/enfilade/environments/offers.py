"""What an environment offers, read from its metadata; nothing is imported."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from importlib_metadata import EntryPoints, distributions
from packaging.utils import canonicalize_name

from enfilade.candidate import GROUP, Offer
from enfilade.environments.errors import InstallError, Reason
from enfilade.metadata import headers

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class Offered:
    """A plugin as its metadata has it: its name as it writes it, its version, its strategies."""

    name: str
    version: str
    offers: tuple[Offer, ...]


class _Offering(Protocol):
    @property
    def entry_points(self) -> EntryPoints: ...


def read_offers(venv: Path, name: str) -> Offered:
    """Finds a plugin in a virtual environment.

    Args:
        venv: The environment.
        name: The distribution's canonical name.

    Raises:
        InstallError: It is not there, or offers no strategy, or one whose name or target is none.
    """
    told = [(headers(d), d) for d in distributions(path=_site_packages(venv))]
    found = {canonicalize_name(of.get("Name", "")): (of, d) for of, d in told}
    of, plugin = found.get(canonicalize_name(name), (None, None))
    if of is None or plugin is None:
        raise InstallError(Reason.NOT_A_PLUGIN, f"{name} is not among what was installed: {', '.join(sorted(found))}")
    offers = _offers(plugin)
    if not offers:
        others = sorted(other for other, (_, distribution) in found.items() if _offers(distribution))
        hint = f"; {' and '.join(others)}, which it needs, has: add that" if others else ""
        raise InstallError(
            Reason.NOT_A_PLUGIN,
            f"{name} {of.get('Version', '')} is no plugin: expected an entry point in the group {GROUP!r}, found none"
            f"{hint}; nothing was changed",
        )
    for offer in offers:
        _check(name, offer)
    if doubled := sorted({offer.name for offer in offers if [o.name for o in offers].count(offer.name) > 1}):
        raise InstallError(
            Reason.NOT_A_PLUGIN,
            f"{name} has several entry points named {', '.join(doubled)}: expected another name for each strategy; "
            "nothing was changed",
        )
    return Offered(of.get("Name", name), of.get("Version", ""), offers)


def _site_packages(venv: Path) -> list[str]:
    return [str(path) for path in sorted(venv.glob("lib/python3.*/site-packages"))]


def _offers(distribution: _Offering) -> tuple[Offer, ...]:
    try:
        return tuple(Offer(e.name, e.value) for e in distribution.entry_points if e.group == GROUP)
    except UnicodeDecodeError:  # an installer that lets this pass runs no such entry point either
        return ()


def _check(name: str, offer: Offer) -> None:
    if not _NAME.fullmatch(offer.name):
        expected, found = "letters, digits, '-', '_' and '.' in a strategy's name", offer.name
    elif not _TARGET.fullmatch(offer.target):
        expected, found = "package.module:Class behind a strategy's name", offer.target
    else:
        return
    raise InstallError(
        Reason.NOT_A_PLUGIN, f"{name} has an entry point that cannot be used: expected {expected}, found {found!r}"
    )
