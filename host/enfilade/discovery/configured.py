"""Plugins that the configuration names: at an address, or started by a command of their own."""

from collections.abc import Mapping
from pathlib import Path

from enfilade.candidate import Candidate
from enfilade.config import PluginSettings


def configured_candidates(settings: Mapping[str, PluginSettings]) -> list[Candidate]:
    """The plugins with an `address` or a `command`; only they themselves can say what they offer."""
    return [_candidate(name, chosen) for name, chosen in settings.items() if chosen.enabled and _elsewhere(chosen)]


def _elsewhere(chosen: PluginSettings) -> bool:
    return bool(chosen.address or chosen.command)


def _candidate(name: str, chosen: PluginSettings) -> Candidate:
    files: dict[str, Path | None] = {"ca": chosen.ca, "certificate": chosen.certificate, "key": chosen.key}
    return Candidate(
        plugin=name,
        origin=f"[plugins.{name}] ({chosen.address or ' '.join(chosen.command)})",
        command=chosen.command,
        address=chosen.address,
        certificates={key: path for key, path in files.items() if path is not None},
        environment=chosen.environment,
        start_timeout=chosen.start_timeout,
        supervision=chosen.supervision,
    )
