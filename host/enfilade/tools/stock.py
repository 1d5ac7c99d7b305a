"""What the tool sources of one host have together."""

from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")


class Stock:
    """Holds one object of each class, made by the first source that needs it."""

    def __init__(self) -> None:
        self._made: dict[type[object], object] = {}

    def of(self, kind: type[T], make: Callable[[], T]) -> T:
        """The object of that class.

        Args:
            kind: The class.
            make: Makes it, where there is none.
        """
        if kind not in self._made:
            self._made[kind] = make()
        return cast(T, self._made[kind])
