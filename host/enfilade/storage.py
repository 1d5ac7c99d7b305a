"""The small storage of strategies: JSON values by key, kept apart by plugin and conversation."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic_core import to_json

from enfilade_sdk.errors import InvalidParamsError, QuotaExceededError
from enfilade_sdk.prompts import StorageRequest

KEY_LIMIT = 256
"""Characters of a key."""

SPACE_LIMIT = 1024 * 1024
"""Bytes of JSON that one plugin may keep for one conversation."""

MOST_KEYS = 10_000
"""Keys that one plugin may have for one conversation; each costs more than its bytes."""


class Storage(Protocol):
    """Where the values are."""

    async def use(self, plugin: str, conversation: str, request: StorageRequest) -> Any:
        """Gets (None where nothing is), sets or deletes a value."""
        ...


@dataclass(slots=True)
class MemoryStorage:
    """Keeps the values as long as the host lives."""

    _spaces: dict[tuple[str, str], dict[str, bytes]] = field(default_factory=dict)
    _values: dict[tuple[str, str, str], Any] = field(default_factory=dict)

    async def use(self, plugin: str, conversation: str, request: StorageRequest) -> Any:
        """Gets, sets or deletes a value.

        Raises:
            InvalidParamsError: The key is empty or too long.
            QuotaExceededError: The plugin's space for this conversation is full.
        """
        check_key(request.key)
        space = self._spaces.setdefault((plugin, conversation), {})
        place = (plugin, conversation, request.key)
        if request.verb == "get":
            return self._values.get(place)
        if request.verb == "delete":
            space.pop(request.key, None)
            self._values.pop(place, None)
            return None
        text = to_json(request.value)
        size = sum(map(len, space.values())) - len(space.get(request.key, b"")) + len(text)
        check_space(size, len(space.keys() | {request.key}))
        space[request.key] = text
        self._values[place] = request.value
        return None


def check_key(key: str) -> None:
    """Refuses a key that is empty or too long.

    Raises:
        InvalidParamsError: It is.
    """
    if not 0 < len(key) <= KEY_LIMIT:
        raise InvalidParamsError(f"a storage key has 1 to {KEY_LIMIT} characters, got {len(key)}")


def check_space(size: int, keys: int) -> None:
    """Refuses what would not fit.

    Args:
        size: Bytes that the space would have.
        keys: Keys that it would have.

    Raises:
        QuotaExceededError: The space would be over a limit.
    """
    if keys > MOST_KEYS:
        raise QuotaExceededError(f"the storage of this plugin and conversation holds {MOST_KEYS} keys; delete some")
    if size > SPACE_LIMIT:
        raise QuotaExceededError(
            f"the storage of this plugin and conversation holds {SPACE_LIMIT} bytes; this would make it {size}"
        )
