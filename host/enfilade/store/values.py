"""The small storage of strategies, kept in the database: JSON values by plugin, conversation and key."""

from typing import TYPE_CHECKING, Any

from enfilade.storage import check_key, check_space
from enfilade.store.clock import now
from enfilade.store.database import Database
from enfilade.store.text import loaded_json, stored_json, stored_text
from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.parameters.json_value import not_json
from enfilade_sdk.prompts import StorageRequest

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncConnection


class StoredValues:
    """A `Storage` that lasts. Its quota holds under runs at once, and under hosts that share the database.

    Args:
        database: Where the values are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def use(self, plugin: str, conversation: str, request: StorageRequest) -> Any:
        """Gets (None where nothing is), sets or deletes a value. What is under way ends though its run is cancelled.

        Raises:
            InvalidParamsError: The key is empty or too long, or the value is not JSON.
            QuotaExceededError: The plugin's space for this conversation is full.
            StoreError: The store cannot be used now.
        """
        check_key(request.key)
        if request.verb == "set" and (fault := not_json(request.value)) is not None:
            raise InvalidParamsError(f"storage {request.key!r}: expected a JSON value, got {fault}")
        return await self._database.finish(self._use(_Space(self._database, plugin, conversation), request))

    async def _use(self, space: "_Space", request: StorageRequest) -> Any:
        if request.verb == "get":
            async with self._database.reading() as connection:
                return await space.get(connection, request.key)
        async with self._database.writing() as connection:
            if request.verb == "set":
                await space.set(connection, request.key, stored_json(request.value))
            else:
                await space.delete(connection, request.key)
        return None


class _Space:
    """The values of one plugin and conversation."""

    def __init__(self, database: Database, plugin: str, conversation: str) -> None:
        self._database = database
        self._table = database.tables.storage_values
        self._plugin = stored_text(plugin)
        self._conversation = stored_text(conversation)

    async def get(self, connection: "AsyncConnection", key: str) -> Any:
        query = self._table.select().with_only_columns(self._table.c.value).where(*self._at(key))
        return loaded_json((await connection.execute(query)).scalar())

    async def set(self, connection: "AsyncConnection", key: str, text: str) -> None:
        if self._database.is_postgres:
            await self._lock(connection)
        size = len(text.encode())
        others, keys = await self._without(connection, key)
        check_space(others + size, keys + 1)
        place = {"plugin": self._plugin, "conversation": self._conversation, "key": stored_text(key)}
        value = {"value": text, "size": size, "changed_at": now()}
        insert = self._database.insert(self._table).values(place | value)
        await connection.execute(insert.on_conflict_do_update(index_elements=list(place), set_=value))

    async def delete(self, connection: "AsyncConnection", key: str) -> None:
        await connection.execute(self._table.delete().where(*self._at(key)))

    async def _lock(self, connection: "AsyncConnection") -> None:
        """Holds other writers of this space off until the end; SQLite has one writer anyway."""
        from sqlalchemy import func, select

        name = f"{len(self._plugin)} {self._plugin} {self._conversation}"
        await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))

    async def _without(self, connection: "AsyncConnection", key: str) -> tuple[int, int]:
        """Bytes and number of the other keys."""
        from sqlalchemy import func

        query = self._table.select().with_only_columns(func.sum(self._table.c.size), func.count())
        query = query.where(*self._here(), self._table.c.key != stored_text(key))
        size, keys = (await connection.execute(query)).one()
        return int(size or 0), int(keys)

    def _here(self) -> "tuple[ColumnElement[bool], ...]":
        return self._table.c.plugin == self._plugin, self._table.c.conversation == self._conversation

    def _at(self, key: str) -> "tuple[ColumnElement[bool], ...]":
        return *self._here(), self._table.c.key == stored_text(key)
