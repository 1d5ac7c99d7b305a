"""What a test of sandboxes needs of the machine; where it lacks it, the test is skipped with the reason."""

import pytest

from enfilade.isolation.sandbox.layers import Layer, layers

_MISSING = {layer.name: layer.missing for layer in layers() if layer.missing}


def _mark(profile: str, needed: tuple[str, ...]) -> pytest.MarkDecorator:
    reasons = [f"{name}: {_MISSING[name]}" for name in needed if name in _MISSING]
    return pytest.mark.skipif(bool(reasons), reason=f"this machine has no whole {profile!r}: {'; '.join(reasons)}")


_STANDARD = ("privileges", "host", "landlock", "seccomp")

needs_standard = _mark("standard", _STANDARD)
needs_strict = _mark("strict", (*_STANDARD, "bubblewrap"))

MARKS = {"none": (), "standard": (needs_standard,), "strict": (needs_strict,)}
"""The marks of a test under a profile."""

__all__ = ["MARKS", "Layer", "needs_standard", "needs_strict"]
