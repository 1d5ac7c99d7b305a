"""What a plugin's processes print, without secrets, to those who keep it."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping

from enfilade.store.masking import MASK, Masking

REMEMBERED = 256
"""Secrets of runs and launches that are remembered, the newest; one is of use to nobody when its run is long over."""

_SECRET_NAME = re.compile(r"key|token|secret|password|passwd|credential|auth|cookie|dsn", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(\w+://[^\s/:@]*:)[^\s/@]+@")
_BEARER = re.compile(r"(bearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE)

Sink = Callable[[str, int, int | None, str], None]
"""Takes a line: whose plugin, its level, its process, its text."""


class Journal:
    """Masks what is printed and passes it on.

    Masked are the operator's variables whose names say that they are secret, the secrets of runs, the tokens of
    launches, and whatever looks like a password in an address or a bearer token.

    Args:
        plugin: The plugin's name.
        environment: The variables that the operator gives it.

    Attributes:
        sinks: Who keeps the lines.
    """

    def __init__(self, plugin: str, environment: Mapping[str, str]) -> None:
        self.sinks: list[Sink] = []
        self._plugin = plugin
        self._fixed = [value for name, value in environment.items() if _SECRET_NAME.search(name)]
        self._passing: OrderedDict[str, None] = OrderedDict()
        self._masking = Masking(self._fixed)

    def hide(self, secrets: Iterable[str]) -> None:
        """Masks further secrets from now on."""
        fresh = [secret for secret in secrets if secret and secret not in self._passing]
        if not fresh:
            return
        self._passing.update(dict.fromkeys(fresh))
        while len(self._passing) > REMEMBERED:
            self._passing.popitem(last=False)
        self._masking = Masking([*self._fixed, *self._passing])

    def mask(self, text: str) -> str:
        """The text without secrets."""
        text = self._masking.text(text)
        if "://" in text:
            text = _IN_ADDRESS.sub(rf"\g<1>{MASK}@", text)
        return _BEARER.sub(rf"\g<1>{MASK}", text)

    def line(self, pid: int | None, level: int, text: str) -> None:
        """Passes a line on that is masked already."""
        for sink in self.sinks:
            sink(self._plugin, level, pid, text)
