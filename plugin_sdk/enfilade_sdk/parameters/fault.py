"""What is wrong with one parameter: expected, found, remedy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches

_SHOWN = 60
_LONGEST_NAME = 200
_WIDEST_NUMBER = 10**20


@dataclass(frozen=True, slots=True)
class ParameterFault:
    """One fault. None of its texts may hold the value of a secret.

    Attributes:
        parameter: The parameter's name.
        expected: What would have been right.
        found: What came instead.
        remedy: What to do about it.
    """

    parameter: str
    expected: str
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.parameter}: expected {self.expected}, found {self.found}; {self.remedy}"

    def to_json(self) -> dict[str, str]:
        """The four texts under their names, for `details["faults"]` of an error."""
        return asdict(self)


class UnfitError(ValueError):
    """A value does not fit; carries the parts of the fault, for a caller that knows the parameter's name."""

    def __init__(self, expected: str, found: str, remedy: str) -> None:
        super().__init__(f"expected {expected}, found {found}; {remedy}")
        self.expected = expected
        self.found = found
        self.remedy = remedy


def listed(opening: str, faults: Sequence[ParameterFault]) -> str:
    """One text for all faults: a line when there is one, else a line for each under the opening."""
    if len(faults) == 1:
        return f"{opening}: {faults[0]}"
    return "\n".join([f"{opening} ({len(faults)} faults):", *(f"- {fault}" for fault in faults)])


def details(faults: Iterable[ParameterFault]) -> dict[str, list[dict[str, str]]]:
    """The `details` of an error that reports these faults."""
    return {"faults": [fault.to_json() for fault in faults]}


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """A remedy that names what looks like `name`, or says `otherwise` when nothing does."""
    close = near(name, names)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else otherwise


def near(name: str, names: Iterable[str]) -> list[str]:
    """Up to three of `names` that look like `name`, best first; case and `-`/`_` do not count."""
    folded = {_folded(known): known for known in names}
    return [folded[match] for match in get_close_matches(_folded(name[:_LONGEST_NAME]), folded, n=3, cutoff=0.6)]


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def kind_of(value: object) -> str:
    """The kind of a value in words, without anything of what it holds."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    return f"a value of the Python type {type(value).__name__}"


def brief(value: object, length: int = _SHOWN) -> str:
    """A value in a few words: short texts and numbers as they are, lists and objects by their size."""
    if isinstance(value, str):
        cut = value if len(value) <= length else value[:length] + "..."
        return f"the text {_printable(cut)}"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int) and abs(value) >= _WIDEST_NUMBER:
        return "a number of more than 20 digits"
    if isinstance(value, int | float):
        return f"the number {value!r}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, Mapping):
        return f"an object with {len(value)} {'key' if len(value) == 1 else 'keys'}"
    return kind_of(value)


def shown_name(name: str) -> str:
    """A name from outside as it may stand in a message: short, and nothing in it for a terminal to obey."""
    return name if name.isprintable() and len(name) <= _SHOWN else _printable(name[:_SHOWN])


def _printable(text: str) -> str:
    """Quoted, with everything escaped that a terminal or a log must not be given."""
    return repr(text).encode("utf-8", "backslashreplace").decode("utf-8")
