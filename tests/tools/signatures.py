"""Types that functions of the tests take, and the schemas that functions have."""

import dataclasses
import enum
import typing
from collections.abc import Callable
from typing import Any

import pydantic

from enfilade.tools.functions.function import FunctionTool
from enfilade.tools.functions.threads import Threads


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


class Place(pydantic.BaseModel):
    name: str
    inside: "Place | None" = None


class Tide(typing.TypedDict):
    height: float


@dataclasses.dataclass
class Span:
    start: int
    end: int = 9


class Counter:
    """Counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, by: int = 1) -> int:
        self.count += by
        return self.count

    def twice(self, by: int) -> int:
        """Counts two times."""
        return self(by * 2)


def schema_of(function: Callable[..., object]) -> Any:
    return FunctionTool(function, Threads()).schema


def properties_of(function: Callable[..., object]) -> Any:
    return schema_of(function)["properties"]
