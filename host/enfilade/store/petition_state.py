"""Where a petition stands. It leaves `waiting` once, and for one of the others."""

from enum import StrEnum


class PetitionState(StrEnum):
    """The states of a petition."""

    WAITING = "waiting"
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    """Nobody answered in time."""

    WITHDRAWN = "withdrawn"
    """Its run ended before anybody answered."""

    LAPSED = "lapsed"
    """The host that asked died."""
