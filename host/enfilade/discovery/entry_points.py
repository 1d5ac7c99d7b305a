"""Plugins that are installed beside the host: their metadata is read, nothing is imported."""

from collections.abc import Iterable, Mapping

from importlib_metadata import Distribution, distributions

from enfilade.candidate import GROUP, Candidate, Isolation, Offer, plugin_key
from enfilade.config import PluginSettings
from enfilade.metadata import headers


def installed_candidates(
    settings: Mapping[str, PluginSettings],
    isolation: Isolation,
    found: Iterable[Distribution] | None = None,
) -> list[Candidate]:
    """The plugins of the host's own environment.

    Args:
        settings: The operator's settings by plugin name, however it is written.
        isolation: How plugins without a setting run.
        found: Distributions to look at; None is everything on the host's path.
    """
    by_key = {plugin_key(name): chosen for name, chosen in settings.items()}
    seen: set[str] = set()
    candidates = []
    for distribution in distributions() if found is None else found:
        offers = tuple(Offer(e.name, e.value) for e in distribution.entry_points if e.group == GROUP)
        if not offers:
            continue
        told = headers(distribution)
        name, version = told.get("Name", ""), told.get("Version", "")
        if not name or name in seen:
            continue
        seen.add(name)
        chosen = by_key.get(plugin_key(name), PluginSettings())
        if chosen.enabled:
            where = f"{name} {version} ({distribution.locate_file('')})"
            candidates.append(_candidate(name, version, where, offers, chosen, isolation))
    return candidates


def _candidate(
    name: str, version: str, origin: str, offers: tuple[Offer, ...], chosen: PluginSettings, isolation: Isolation
) -> Candidate:
    return Candidate(
        plugin=name,
        version=version,
        origin=origin,
        offers=offers,
        isolation=chosen.isolation or isolation,
        environment=chosen.environment,
        start_timeout=chosen.start_timeout,
        supervision=chosen.supervision,
    )
