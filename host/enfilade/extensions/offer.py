"""What one extension brings, checked."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from enfilade.hookspecs import LauncherKind, StoreKind
from enfilade.layers.kind import LayerKind
from enfilade.models.provider import ModelProvider
from enfilade.tools.registry import SourceKind

K = TypeVar("K", SourceKind, LayerKind, StoreKind, LauncherKind)


class OfferError(Exception):
    """An extension gives something that is not what its hook is for; the text names the hook."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Kinds by their names, one mapping for each hook `enfilade_...` of the same name."""

    models: dict[str, Callable[[], ModelProvider]] = field(default_factory=dict)
    tools: dict[str, SourceKind] = field(default_factory=dict)
    layers: dict[str, LayerKind] = field(default_factory=dict)
    stores: dict[str, StoreKind] = field(default_factory=dict)
    launchers: dict[str, LauncherKind] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)

    def add(self, other: "Offer") -> None:
        """Takes in what another one brings.

        Raises:
            OfferError: A name is taken; nothing was taken in.
        """
        for hook in HOOKS:
            if both := getattr(self, hook).keys() & getattr(other, hook).keys():
                raise OfferError(f"enfilade_{hook}: {', '.join(sorted(both))} is there already; choose another name")
        for hook in HOOKS:
            getattr(self, hook).update(getattr(other, hook))


HOOKS = tuple(known.name for known in fields(Offer))
"""The hooks that bring kinds, without their prefix."""


def offer_of(given: Mapping[str, Any]) -> Offer:
    """Reads what an extension's hooks gave.

    Args:
        given: What each hook gave, by its name without the prefix; hooks that are not implemented are not there.

    Raises:
        OfferError: It is not what the hook is for.
    """
    return Offer(
        models=_callables(given.get("models", {})),
        tools=_kinds("tools", given.get("tools", ()), SourceKind),
        layers=_kinds("layers", given.get("layers", ()), LayerKind),
        stores=_kinds("stores", given.get("stores", ()), StoreKind),
        launchers=_kinds("launchers", given.get("launchers", ()), LauncherKind),
        commands=_targets(given.get("commands", {})),
    )


def _kinds(hook: str, given: Any, kind: type[K]) -> dict[str, K]:
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise OfferError(f"enfilade_{hook}: expected a list of {kind.__name__}, got a {type(given).__name__}")
    found: dict[str, K] = {}
    for one in given:
        if not isinstance(one, kind):
            raise OfferError(f"enfilade_{hook}: expected a {kind.__name__}, got a {type(one).__name__}")
        if one.name in found:
            raise OfferError(f"enfilade_{hook}: {one.name!r} is given twice")
        found[one.name] = one
    return found


def _callables(given: Any) -> dict[str, Callable[[], ModelProvider]]:
    if not isinstance(given, Mapping) or not all(isinstance(k, str) and callable(v) for k, v in given.items()):
        raise OfferError("enfilade_models: expected a mapping from names to what makes a provider")
    return dict(given)


def _targets(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping) or not all(isinstance(v, str) and ":" in v for v in given.values()):
        raise OfferError("enfilade_commands: expected a mapping from names to 'package.module:command'")
    return {str(name): target for name, target in given.items()}
