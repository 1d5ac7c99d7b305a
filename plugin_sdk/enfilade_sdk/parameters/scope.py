"""The scope of a parameter: which files, models, apps or tools it takes.

A scope is one word or several joined by `&`, such as `image&document` or `tool-call&llm`.
"""

from collections.abc import Mapping

from enfilade_sdk.parameters.fault import did_you_mean
from enfilade_sdk.parameters.kind import ParameterType

ALL = "all"

MEDIA: Mapping[str, tuple[str, ...]] = {
    "image": ("image/",),
    "audio": ("audio/",),
    "video": ("video/",),
    "document": ("text/", "application/"),
}
"""What the media type of a file begins with."""

MODEL_TYPES: Mapping[str, tuple[str, ...]] = {
    name: (name,) for name in ("llm", "text-embedding", "rerank", "tts", "speech2text", "moderation")
}
"""Types of models."""

MODEL_ABILITIES = (
    "tool-call",
    "multi-tool-call",
    "stream-tool-call",
    "agent-thought",
    "vision",
    "document",
    "audio",
    "video",
    "structured-output",
)
"""Abilities of models. Whether a model has them only the host knows, so that the host checks them."""

APP_MODES: Mapping[str, tuple[str, ...]] = {
    "chat": ("chat", "agent-chat", "advanced-chat"),
    "workflow": ("workflow",),
    "completion": ("completion",),
}
"""Modes of apps."""

TOOL_KINDS: Mapping[str, tuple[str, ...]] = {
    "builtin": ("builtin",),
    "plugin": ("plugin",),
    "custom": ("custom", "api"),
    "api": ("api",),
    "workflow": ("workflow",),
    "mcp": ("mcp",),
}
"""Where tools come from."""

WORDS: Mapping[ParameterType, tuple[str, ...]] = {
    ParameterType.FILE: (ALL, *MEDIA),
    ParameterType.FILES: (ALL, *MEDIA),
    ParameterType.MODEL_SELECTOR: (ALL, *MODEL_TYPES, *MODEL_ABILITIES),
    ParameterType.APP_SELECTOR: (ALL, *APP_MODES),
    ParameterType.TOOLS: (ALL, *TOOL_KINDS),
}
"""The words of each type that has a scope."""


def scope_words(scope: str | None) -> tuple[str, ...]:
    """The words of a scope, in order."""
    return tuple(word.strip() for word in scope.split("&")) if scope else ()


def allowed(scope: str | None, meanings: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """What the words of a scope admit; empty admits everything (no scope, `all`, or only words of another kind)."""
    words = scope_words(scope)
    if ALL in words:
        return ()
    return tuple(dict.fromkeys(meaning for word in words for meaning in meanings.get(word, ())))


def scope_fault(kind: ParameterType, scope: str) -> tuple[str, str] | None:
    """What is wrong with a scope, as what was expected and what to do; None when nothing is."""
    known = WORDS.get(kind)
    if known is None:
        takers = ", ".join(WORDS)
        return f"no scope on the type {kind.value!r}", f"leave scope out; the types {takers} take one"
    unknown = [word for word in scope_words(scope) if word not in known]
    if not unknown:
        return None
    remedy = did_you_mean(unknown[0], known, "correct the word or leave scope out")
    return f"a scope of the words {', '.join(known)}, joined by '&'", remedy
