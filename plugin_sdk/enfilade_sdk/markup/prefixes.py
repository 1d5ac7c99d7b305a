"""What models write before the name of a tool: the namespaces they were trained with."""

from typing import Final

PREFIXES: Final = ("functions.", "default_api.", "tools.")
"""Of OpenAI's models and Kimi, of Gemini, of others."""


def without_prefix(name: str) -> str:
    """The name without its namespace."""
    for prefix in PREFIXES:
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def may_be_prefix(text: str) -> bool:
    """Whether a text is the beginning of a namespace, or a whole one."""
    return any(prefix.startswith(text) for prefix in PREFIXES)
