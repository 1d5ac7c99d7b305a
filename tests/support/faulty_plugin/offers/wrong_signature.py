"""Strategies that do not fit the contract, each in its way."""

from collections.abc import Iterator
from typing import Any


class Everything:
    """Wrong in every way there is."""

    meta_version = 1

    def get_parameters(self) -> list[Any]:
        return [{"name": "x", "type": "no such type"}]

    async def invoke(self, *, params: dict[str, Any], nothing_gives_this: int) -> None:
        """Yields nothing."""


class NeedsArguments:
    def __init__(self, needed: int) -> None:
        self.needed = needed


class Fits:
    def get_parameters(self) -> list[Any]:
        return []

    def invoke(self) -> Iterator[str]:
        yield "fits"
