"""Token counts as providers write them."""

from collections.abc import Mapping
from typing import Any

from enfilade_sdk.prompts import Usage

_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "prompt_tokens": (("prompt_tokens",), ("input_tokens",)),
    "completion_tokens": (("completion_tokens",), ("output_tokens",)),
    "total_tokens": (("total_tokens",),),
    "cached_tokens": (
        ("prompt_tokens_details", "cached_tokens"),
        ("input_tokens_details", "cached_tokens"),
        ("prompt_cache_hit_tokens",),
        ("cached_tokens",),
    ),
    "reasoning_tokens": (
        ("completion_tokens_details", "reasoning_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
        ("reasoning_tokens",),
    ),
}
"""Where providers write each count: names, from the outside in."""


class UsageCount:
    """The usage of one reply. Counts within a stream are running totals: the last of each wins, nothing is added.

    A zero never takes the place of a number: some servers end with a report that leaves out what they said before.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def feed(self, raw: Any) -> None:
        """Takes a usage object; anything else counts for nothing."""
        if not isinstance(raw, dict):
            return
        for field, paths in _NAMES.items():
            for path in paths:
                if (count := _count(raw, path)) is not None:
                    self._counts[field] = count or self._counts.get(field, 0)
                    break

    def finish(self) -> Usage:
        """The counts; unknown (None) is what no one reported. All zero is no report either."""
        counts = dict(self._counts)
        if not any(counts.values()):
            return Usage()
        if "total_tokens" not in counts and {"prompt_tokens", "completion_tokens"} <= counts.keys():
            counts["total_tokens"] = counts["prompt_tokens"] + counts["completion_tokens"]
        return Usage(**counts)


def _count(raw: Mapping[str, Any], path: tuple[str, ...]) -> int | None:
    value: Any = raw
    for step in path:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
