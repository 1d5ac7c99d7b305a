"""The kinds of layers that a host knows."""

from collections.abc import Iterable, Sequence

from enfilade.config import Config, LayerSettings
from enfilade.errors import ConfigError, near_matches
from enfilade.layers.kind import LayerKind, Supplies
from enfilade.layers.layer import Layer

DEFAULT = (LayerSettings(kind="limits"),)
"""The layers of a configuration that says nothing of layers."""

RECORDING = "recording"
TELEMETRY = "telemetry"


def layers_of(config: Config) -> Sequence[LayerSettings]:
    """The layers of a configuration; those that other sections bring are the outermost unless they are among them."""
    named = DEFAULT if config.layers is None else config.layers
    traced = config.telemetry is not None and config.telemetry.enabled
    brought = ((TELEMETRY, traced), (RECORDING, config.store is not None))
    own = {entry.kind for entry in named}
    return (*(LayerSettings(kind=kind) for kind, wanted in brought if wanted and kind not in own), *named)


def records_runs(config: Config) -> bool:
    """Whether the configuration has a layer that records."""
    return any(entry.kind == RECORDING and entry.enabled for entry in layers_of(config))


class LayerKinds:
    """Finds the kind of a layer and lets it build.

    Args:
        kinds: The kinds, no two of one name.
    """

    def __init__(self, kinds: Iterable[LayerKind]) -> None:
        self._kinds = {kind.name: kind for kind in kinds}

    def names(self) -> list[str]:
        """The names of all kinds, in order."""
        return sorted(self._kinds)

    def build(self, settings: Sequence[LayerSettings] | None, supplies: Supplies) -> list[Layer]:
        """The layers of a configuration, in its order.

        Args:
            settings: What it says; None is `DEFAULT`.
            supplies: What the layers may need.

        Raises:
            ConfigError: A kind is not known, or its options do not serve; the text has every fault with its place.
        """
        layers: list[Layer] = []
        faults: list[str] = []
        for place, entry in enumerate(DEFAULT if settings is None else settings, start=1):
            if not entry.enabled:
                continue
            try:
                layers.append(self._kind(entry.kind).build(entry.options, supplies))
            except ConfigError as error:
                faults.append(f"\n  - [[layers]] number {place} (kind {entry.kind!r}): {error.message}")
        if faults:
            raise ConfigError(f"the layers of the configuration have {len(faults)} fault(s):{''.join(faults)}")
        return layers

    def _kind(self, name: str) -> LayerKind:
        kind = self._kinds.get(name)
        if kind is None:
            raise ConfigError(f"there is no such kind of layer; {near_matches(name, self._kinds)}")
        return kind
