"""The strategies that a plugin process offers, opened once."""

import importlib
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from enfilade_sdk.contract import Fault, StrategyDescription, describe, opened
from enfilade_sdk.errors import NotAdmittedError


@dataclass(frozen=True, slots=True)
class Offer:
    """A strategy by its name and where its code is: `package.module:Class`."""

    name: str
    target: str


def offer_of(text: str) -> Offer:
    """Reads `name=package.module:Class`, or `package.module:Class`, whose name is left to the class.

    Raises:
        NotAdmittedError: The text has another form.
    """
    name, _, target = text.rpartition("=")
    module, _, attribute = target.partition(":")
    if not (module and attribute):
        raise NotAdmittedError(f"expected package.module:Class, got {text!r}")
    return Offer(name, target)


class Plugin:
    """Opens the offers of a process and keeps what was found."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        self._strategies: dict[str, Any] = {}
        self.descriptions: list[StrategyDescription] = []
        for offer in offers:
            self._open(offer)

    def find(self, name: str) -> Any:
        """The strategy of that name.

        Raises:
            NotAdmittedError: There is none.
        """
        try:
            return self._strategies[name]
        except KeyError:
            known = ", ".join(self._strategies) or "none"
            raise NotAdmittedError(f"this plugin has no strategy {name!r}; it has: {known}") from None

    def _open(self, offer: Offer) -> None:
        try:
            strategy = opened(load(offer.target), offer.name or offer.target)
            description = describe(strategy, offer.name or None)
        except NotAdmittedError as error:
            self.descriptions.append(unopened(offer, error.message))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one bad strategy costs only itself
            reason = f"making or describing {offer.target} raised {type(error).__name__}: {error}"
            self.descriptions.append(unopened(offer, reason))
        else:
            if description.name in self._strategies:
                found = f"another strategy of this plugin is named {description.name!r} too"
                description.faults.append(Fault(expected="a name of its own", found=found, remedy="rename one of them"))
            self.descriptions.append(description)
            self._strategies[description.name] = strategy


def load(target: str) -> Any:
    """The object that `package.module:Class` names.

    Raises:
        NotAdmittedError: The module cannot be imported, or has no such member; the text says why.
    """
    module_name, _, attribute = target.partition(":")
    try:
        value: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            value = getattr(value, part)
    except (Exception, SystemExit) as error:  # a plugin's code may raise anything at import
        raise NotAdmittedError(f"importing {target} raised {type(error).__name__}: {error}{_place(error)}") from error
    return value


def _place(error: BaseException) -> str:
    """Where in the plugin's code it was raised; empty when that is none of its lines."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith("<frozen ")]
    inner = [frame for frame in own if frame.filename not in (__file__, importlib.__file__)]
    return f" ({inner[-1].filename}, line {inner[-1].lineno})" if inner else ""


def unopened(offer: Offer, reason: str) -> StrategyDescription:
    """The description of a strategy that could not be opened; its one fault says why."""
    fault = Fault(expected="a strategy that can be imported and made", found=reason, remedy="mend the plugin's code")
    return StrategyDescription(name=offer.name or offer.target, faults=[fault])


def extend_path(folders: Sequence[str]) -> None:
    """Puts folders before the installed packages, for plugins that are not installed."""
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
