"""How the command ends, as its exit code says it."""

from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
"""The command line itself is wrong."""

SIGNALLED: Final = 128
"""Added to the number of the signal that ended it: 130 for Ctrl-C, 143 for SIGTERM."""
