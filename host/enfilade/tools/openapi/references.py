"""Follows the references of a document."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from enfilade.tools.openapi.failure import OperationFault
from enfilade.tools.schemas.keywords import Schema, with_children

MOST_SCHEMAS = 10_000
"""Schemas in the arguments of one operation."""

_MOST_STEPS = 20


class References:
    """Finds what `$ref` names within a document; nothing else is ever read.

    Args:
        root: The document.
    """

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root

    def followed(self, value: Any) -> Any:
        """The value, or what it refers to.

        Raises:
            OperationFault: It refers to nothing in this document, or to itself.
        """
        reference: Any = None
        for _ in range(_MOST_STEPS):
            reference = value.get("$ref") if isinstance(value, dict) else None
            if not isinstance(reference, str):
                return value
            value = self._at(reference)
            if value is None:
                raise OperationFault(f"it refers to {reference!r}, which is not in the document")
        raise OperationFault(f"it refers to {reference!r}, which leads back to itself")

    def resolved(self, schema: Any) -> Any:
        """A schema, or the one it refers to; the schema itself where that is not in the document."""
        try:
            return self.followed(schema)
        except OperationFault:
            return schema

    def self_contained(self, schemas: dict[str, Any]) -> tuple[dict[str, Any], Schema]:
        """Schemas whose references lead into definitions of their own, and these definitions.

        Properties that only the interface may set (`readOnly`) are left out.

        Raises:
            OperationFault: There are too many of them, or they are nested too deeply.
        """
        move = _Move(self)
        try:
            moved = {name: move.copied(schema) for name, schema in schemas.items()}
            return moved, move.definitions()
        except RecursionError:
            raise OperationFault("its schemas are nested too deeply") from None

    def _at(self, reference: str) -> Any:
        if reference != "#" and not reference.startswith("#/"):
            return None
        found: Any = self._root
        for token in _tokens(reference):
            if isinstance(found, dict):
                found = found.get(token)
            elif isinstance(found, list) and token.isdecimal() and int(token) < len(found):
                found = found[int(token)]
            else:
                return None
        return found


class _Move:
    """Copies schemas out of a document, with what they refer to."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._waiting: list[str] = []
        self._count = 0

    def copied(self, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        self._count += 1
        if self._count > MOST_SCHEMAS:
            raise OperationFault(f"its arguments have more than {MOST_SCHEMAS:,} schemas")
        own = with_children(self._writable(schema), lambda child, _: self.copied(child))
        reference = own.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            own["$ref"] = f"#/$defs/{self._name(reference)}"
        return own

    def definitions(self) -> Schema:
        made: Schema = {}
        while self._waiting:
            reference = self._waiting.pop()
            target = self._references.resolved({"$ref": reference})
            is_lost = isinstance(target, dict) and target.get("$ref") == reference
            made[self._names[reference]] = {} if is_lost else self.copied(target)
        return made

    def _name(self, reference: str) -> str:
        if reference not in self._names:
            stem = "".join(c if c.isalnum() else "_" for c in reference.rpartition("/")[2]) or "definition"
            name, number = stem, 2
            while name in self._taken:
                name, number = f"{stem}_{number}", number + 1
            self._taken.add(name)
            self._names[reference] = name
            self._waiting.append(reference)
        return self._names[reference]

    def _writable(self, schema: Schema) -> Schema:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return schema
        kept = {name: part for name, part in properties.items() if not self._is_read_only(part)}
        if len(kept) == len(properties):
            return schema
        required = schema.get("required")
        still = [name for name in required if name in kept] if isinstance(required, list) else []
        return {**schema, "properties": kept, "required": still}

    def _is_read_only(self, schema: Any) -> bool:
        is_marked = isinstance(schema, dict) and schema.get("readOnly") is True
        target = self._references.resolved(schema)
        return is_marked or (isinstance(target, dict) and target.get("readOnly") is True)


def _tokens(reference: str) -> Iterator[str]:
    fragment = unquote(reference[1:])
    for token in fragment.split("/")[1:] if fragment else ():
        yield token.replace("~1", "/").replace("~0", "~")
