"""One measured figure: what it is, what it is beside, what was aimed for."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table.

    Attributes:
        name: What was measured.
        value: The median, in words with its unit.
        beside: What it is compared with, in words; empty when it stands alone.
        ratio: Value by comparison, None when it stands alone.
        target: The aim, in words.
        met: Whether it was reached; None when there is no aim.
    """

    name: str
    value: str
    beside: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None

    def row(self) -> str:
        """The row in Markdown."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        met = {True: "yes", False: "**no**", None: ""}[self.met]
        return f"| {self.name} | {self.value} | {self.beside} | {ratio} | {self.target} | {met} |"


HEADER = "| what | median | beside | ratio | aim | reached |\n|---|---|---|---|---|---|"


def middle(values: Sequence[float]) -> float:
    """The median; quoted instead of the mean because the machine is shared."""
    return median(values)


def milliseconds(seconds: float) -> str:
    """Seconds as milliseconds, in words."""
    return f"{seconds * 1e3:.2f} ms"
