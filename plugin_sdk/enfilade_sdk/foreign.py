"""Values of types that are not ours, as those write them who import nothing of ours."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from pydantic import BaseModel


def plain(value: Any) -> Any:
    """The plain form of a value: enums by their values, objects as the dicts of their members, tuples as lists.

    Objects are pydantic's models, dataclasses and named tuples, with slots or without, and whatever else has members.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [plain(item) for item in value]
    members = _members(value)
    return value if members is None else {name: plain(member) for name, member in members.items()}


def _members(value: Any) -> Mapping[Any, Any] | None:
    """What belongs to an object by name; None for what has no members."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, tuple):
        return {name: getattr(value, name) for name in getattr(value, "_fields", ())}
    return getattr(value, "__dict__", None) or None
