"""What came of loading an agent's tools."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that could not be had: a whole source, or one of its tools.

    Attributes:
        origin: What the source is called.
        reason: Why, and what to do.
        tool: The tool's name; empty for the whole source.
        code: A stable error code.
    """

    origin: str
    reason: str
    tool: str = ""
    code: str = ""

    def __str__(self) -> str:
        what = f"the tool {self.tool!r} of {self.origin}" if self.tool else self.origin
        return self.reason if self.reason.startswith(self.origin) else f"{what}: {self.reason}"


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What was left out, and what was changed to make the rest usable.

    Attributes:
        refusals: Sources and tools that are not there.
        notes: Tools that are there, with something of their schema left out.
    """

    refusals: tuple[Refusal, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())

    def __bool__(self) -> bool:
        return bool(self.refusals or self.notes)
