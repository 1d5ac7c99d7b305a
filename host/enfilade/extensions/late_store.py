"""The store of a host, opened when something is first written or read."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from enfilade.config import StoreSection
from enfilade.errors import ConfigError, near_matches
from enfilade.hookspecs import OpenStore, RememberingStore, StoreKind
from enfilade.layers.recorder import RunRecorder
from enfilade.store.conversation import Conversation, Window
from enfilade.store.start import RunStart
from enfilade_sdk.prompts import StorageRequest


class LateStore:
    """Opens a store once, however many ask for it at the same time. A failed opening is tried again by the next to ask.

    It is a `Recorder`, a `Storage` and `EarlierTurns`.

    Args:
        open_store: Opens it.
    """

    def __init__(self, open_store: Callable[[], Awaitable[OpenStore]]) -> None:
        self._open_store = open_store
        self._store: OpenStore | None = None
        self._turn = asyncio.Lock()

    async def opened(self) -> OpenStore:
        """The store.

        Raises:
            EnfiladeError: It cannot be opened; the text says why and what to do.
        """
        async with self._turn:
            if self._store is None:
                self._store = await self._open_store()
            return self._store

    async def run_began(self, start: RunStart) -> RunRecorder:
        """Opens the record of a run."""
        return await (await self.opened()).records.run_began(start)

    async def use(self, plugin: str, conversation: str, request: StorageRequest) -> Any:
        """Gets, sets or deletes a value of a strategy's small storage."""
        return await (await self.opened()).values.use(plugin, conversation, request)

    async def conversation(self, conversation_id: str, *, user_id: str, window: Window) -> Conversation:
        """The newest turns of a user's conversation that fit; none where the store cannot rebuild conversations.

        Raises:
            StoreError: The store cannot be opened or read now.
        """
        store = await self.opened()
        if not isinstance(store, RememberingStore):
            return Conversation()
        return await store.conversation(conversation_id, user_id=user_id, window=window)

    async def remembers(self) -> bool:
        """Whether the store can rebuild conversations.

        Raises:
            StoreError: The store cannot be opened.
        """
        return isinstance(await self.opened(), RememberingStore)

    async def aclose(self) -> None:
        """Closes the store, if it was opened."""
        async with self._turn:
            store, self._store = self._store, None
            if store is not None:
                await store.aclose()


def late_store(kinds: Mapping[str, StoreKind], section: StoreSection | None) -> LateStore:
    """The store of a configuration, not opened yet.

    Args:
        kinds: The kinds of stores there are.
        section: What the configuration says; None is the kind `sql` with its defaults.

    Raises:
        ConfigError: There is no such kind, or its settings do not serve.
    """
    chosen = section or StoreSection()
    kind = kinds.get(chosen.kind)
    if kind is None:
        raise ConfigError(f"[store] kind: there is no store {chosen.kind!r}; {near_matches(chosen.kind, kinds)}")
    return LateStore(kind.prepare(chosen.options))
