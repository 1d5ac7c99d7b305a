"""What an installer's last lines come to, and what to do about it. The lines themselves are always shown too."""

from dataclasses import dataclass

from enfilade.environments.errors import Reason


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A kind of failure.

    Attributes:
        reason: Its reason.
        advice: What it is and what to do about it.
        signs: What uv (0.13) or pip (25) writes then; one is enough.
    """

    reason: Reason
    advice: str
    signs: tuple[str, ...]

    def fits(self, said: str) -> bool:
        """Whether this is what the lines tell of."""
        return any(sign in said for sign in self.signs)


CANNOT_START = "cannot start "
"""How the keeper's line of a command begins that could not be started."""

_BUILD = Diagnosis(
    Reason.BUILD_REFUSED,
    "there is no wheel, and building, which runs the package's code, was not allowed (--allow-build does)",
    ("building from source is disabled", "--no-build", "--only-binary", "no usable wheels"),
)
_KNOWN = (
    Diagnosis(Reason.DISK_FULL, "the disk is full", ("No space left on device", "os error 28")),
    _BUILD,
    Diagnosis(
        Reason.PYTHON,
        "a package needs another Python; name one",
        ("requires Python", "requires a different Python"),
    ),
    Diagnosis(
        Reason.PYTHON,
        "a package has no wheel for this Python or this system; name another Python, or ask for another version",
        ("has no wheels with a matching",),
    ),
    Diagnosis(
        Reason.INSTALLER_FAILED,
        "a file is not the one that was found a moment before; try again, and tell whoever keeps it if it stays so",
        ("Hash mismatch", "DO NOT MATCH THE HASHES"),
    ),
    Diagnosis(
        Reason.INSTALLER_FAILED,
        "a place where packages come from cannot be reached; look at the network and at the place's address, or "
        "install from a folder of wheels",
        ("error sending request", "network was disabled", "NewConnectionError", "Temporary failure in name resolution"),
    ),
    Diagnosis(
        Reason.INSTALLER_FAILED,
        "a wheel is badly made; tell its author, or ask for another version",
        ("The wheel is invalid", "Failed to read metadata", "has an invalid wheel"),
    ),
    Diagnosis(
        Reason.INSTALLER_FAILED,
        "a package, or the version of it that is asked for, is in none of the places that were looked at; look at how "
        "it is written, or name a place that has it",
        ("was not found in", "there are no versions of", "there is no version of", "No matching distribution found"),
    ),
    Diagnosis(
        Reason.INSTALLER_FAILED,
        "its requirements exclude each other, or those of the SDK; ask for another version, or tell its author",
        ("requirements are unsatisfiable", "which are incompatible", "conflicting dependencies"),
    ),
)


def diagnosed(said: str, *, allow_build: bool) -> tuple[Reason, str]:
    """The reason for a failure, and what to do about it; empty where only the lines themselves can tell.

    Args:
        said: The tool's last lines.
        allow_build: Whether it was allowed to build.
    """
    if said.startswith(CANNOT_START):
        return Reason.NO_INSTALLER, "it is not there or no program; install it anew"
    for known in _KNOWN:
        if known.fits(said) and not (known is _BUILD and allow_build):
            return known.reason, known.advice
    return Reason.INSTALLER_FAILED, ""
