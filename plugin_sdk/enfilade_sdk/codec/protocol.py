"""Which application protocol is spoken."""

PROTOCOL = 1
"""Version of the application protocol that this package speaks."""
