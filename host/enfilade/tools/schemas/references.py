"""Makes a schema self-contained: every `$ref` replaced by what it means, or kept together with its target."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from enfilade.tools.schemas.fold import both
from enfilade.tools.schemas.keywords import IN_PLACE, Schema, children, with_children

MAX_INLINED = 2_000
"""Schemas written out in place of references; above that, references are kept beside their targets."""

MAX_LEVEL = 24
"""Schemas within schemas; a reference found deeper than that is kept."""

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_CONTAINERS = ("$defs", "definitions")
_DROPPED = frozenset({*_REFERENCES, *_CONTAINERS})


def resolve_references(root: Schema) -> tuple[Schema, list[str]]:
    """Writes out references; recursive ones stay, with their targets in the `$defs` of the root.

    Local pointers, anchors and ids are followed, and where a pointer leads nowhere, a definition of that name. Nothing
    is ever fetched. A reference without a target, and one that only leads back to itself, becomes a schema
    that allows everything.

    Returns:
        The new schema, and a note for each reference that has no target.
    """
    references = _References(root)
    schema = references.expanded(root, frozenset({id(root)}), 0)
    definitions = references.definitions()
    return ({**schema, "$defs": definitions} if definitions else schema), references.notes


class _References:
    def __init__(self, root: Schema) -> None:
        self.notes: list[str] = []
        self._root = root
        self._anchors: dict[str, Schema] = {}
        self._ids: dict[str, Schema] = {}
        self._by_name: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._kept: list[Schema] = []
        self._looping: dict[int, bool] = {}
        self._inlined = 0
        self._index(root)

    def _index(self, schema: Any) -> None:
        if not isinstance(schema, dict):
            return
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := schema.get(keyword), str):
                self._anchors.setdefault(name, schema)
        for keyword in ("$id", "id"):
            if isinstance(name := schema.get(keyword), str):
                self._ids.setdefault(name.removesuffix("#"), schema)
        for container in self._containers(schema):
            for name, child in container.items():
                self._by_name.setdefault(name, child)
                self._index(child)
        for child, keyword in children(schema):
            if keyword not in _CONTAINERS:
                self._index(child)

    @staticmethod
    def _containers(schema: Schema) -> Iterator[Schema]:
        components = schema.get("components")
        nested = components.get("schemas") if isinstance(components, dict) else None
        for container in (schema.get("$defs"), schema.get("definitions"), nested):
            if isinstance(container, dict):
                yield container

    def expanded(self, schema: Any, open_targets: frozenset[int], level: int) -> Any:
        """The schema with its references written out; those to a target that is being written out are kept."""
        if not isinstance(schema, dict):
            return schema
        self._inlined += 1
        own = {k: v for k, v in schema.items() if k not in _DROPPED}
        own = with_children(own, lambda child, _: self.expanded(child, open_targets, level + 1))
        for keyword in _REFERENCES:
            if isinstance(reference := schema.get(keyword), str):
                target = self._written_out(reference, open_targets, level)
                if isinstance(target, dict):
                    own = both(target, own)
                elif target is False:
                    own = {"not": {}}
        return own

    def definitions(self) -> Schema:
        """The targets of the references that were kept, written out themselves."""
        made: Schema = {}
        for target in self._kept:  # grows meanwhile
            made[self._names[id(target)]] = self.expanded(target, frozenset({id(target)}), 0)
        return made

    def _written_out(self, reference: str, open_targets: frozenset[int], level: int) -> Any:
        target = self._target(reference)
        if not isinstance(target, dict | bool) or (isinstance(target, dict) and self._loops(target)):
            self.notes.append(f"its schema refers to {reference!r}, which is not in it; anything is allowed there")
            return {}
        if isinstance(target, bool):
            return target
        key = id(target)
        enough = self._inlined > MAX_INLINED or level > MAX_LEVEL
        if key in open_targets or key in self._names or enough:
            return {"$ref": f"#/$defs/{self._name(target, reference)}"}
        return self.expanded(target, open_targets | {key}, level + 1)

    def _name(self, target: Schema, reference: str) -> str:
        name = self._names.get(id(target))
        if name is None:
            last = "arguments" if target is self._root else re.split(r"[/#]", reference.rstrip("/#"))[-1]
            stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", unquote(last)) or "definition"
            name, number = stem, 2
            while name in self._names.values():
                name, number = f"{stem}_{number}", number + 1
            self._names[id(target)] = name
            self._kept.append(target)
        return name

    def _target(self, reference: str) -> Any:
        base, _, fragment = reference.partition("#")
        start = self._root if not base else self._by_id(base)
        found = None if start is None else self._within(start, unquote(fragment))
        if found is None:
            last = unquote(re.split(r"[/#]", reference.rstrip("/#"))[-1])
            found = self._by_name.get(last.replace("~1", "/").replace("~0", "~"))
        return found

    def _by_id(self, base: str) -> Schema | None:
        exact = self._ids.get(base)
        if exact is not None:
            return exact
        return next((schema for name, schema in self._ids.items() if name.endswith("/" + base.lstrip("./"))), None)

    def _within(self, start: Schema, fragment: str) -> Any:
        if not fragment or fragment == "/":
            return start
        if not fragment.startswith("/"):
            return self._anchors.get(fragment)
        found: Any = start
        for token in fragment[1:].split("/"):
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                return None
        return found

    def _loops(self, target: Schema) -> bool:
        """Whether a value checked against the target is, before any of its parts, checked against it again."""
        known = self._looping.get(id(target))
        if known is None:
            seen: set[int] = set()
            ahead = list(self._same_value(target))
            while ahead and id(target) not in seen:
                node = ahead.pop()
                if id(node) not in seen:
                    seen.add(id(node))
                    ahead.extend(self._same_value(node))
            known = self._looping[id(target)] = id(target) in seen
        return known

    def _same_value(self, schema: Schema) -> Iterator[Schema]:
        for keyword in _REFERENCES:
            if isinstance(reference := schema.get(keyword), str):
                target = self._target(reference)
                if isinstance(target, dict):
                    yield target
        for child, keyword in children(schema):
            if keyword in IN_PLACE and isinstance(child, dict):
                yield child
