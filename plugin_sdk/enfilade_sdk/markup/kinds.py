"""The markups there are."""

from typing import Final, Literal, NamedTuple

Markup = Literal["tagged", "function", "mistral", "python_tag", "sections", "invoke", "fenced", "bare"]

ALL_MARKUPS: Final[tuple[Markup, ...]] = (
    "tagged",
    "function",
    "mistral",
    "python_tag",
    "sections",
    "invoke",
    "fenced",
    "bare",
)

DSML: Final = "\uff5cDSML\uff5c"
"""The prefix of DeepSeek's tags."""

NAMESPACES: Final = ("antml:", DSML)
"""What may stand before the name of a tag that asks for a call."""


def token(words: str) -> str:
    """A special token as DeepSeek writes them: full-width bars around words joined by low blocks."""
    return "<\uff5c" + words.replace(" ", "\u2581") + "\uff5c>"


class Opener(NamedTuple):
    """How a block begins and ends; one without an end goes on to the end of the reply."""

    text: str
    kind: Markup
    end: str = ""
    inside: bool = False  # whether the opener itself belongs to what is read


_TAGS = (
    *("tool_call", "tool_calls", "toolcall", "function_call", "functioncall", "tool_use", "use_tool"),
    *("TOOLCALL", "minimax:tool_call", "seed:tool_call"),  # Nemotron, MiniMax, Seed
)
_PAIRS = (
    ("<|tool_call|>", "<|/tool_call|>"),  # Phi, and Granite without an end
    ("<|START_ACTION|>", "<|END_ACTION|>"),  # Command R7B
    ("<|action_start|><|plugin|>", "<|action_end|>"),  # InternLM
)

MARKED: Final = (
    *(Opener(f"<{tag}>", "tagged", f"</{tag}>") for tag in _TAGS),
    *(Opener(start, "tagged", end) for start, end in _PAIRS),
    Opener("<function=", "function", "</function>", inside=True),
    Opener("[TOOL_CALLS]", "mistral"),
    Opener("<|python_tag|>", "python_tag"),
    Opener(token("tool calls begin"), "sections", token("tool calls end")),
    Opener(token("tool call begin"), "sections", token("tool call end")),
    Opener("<|tool_calls_section_begin|>", "sections", "<|tool_calls_section_end|>"),
    Opener("<|tool_call_begin|>", "sections", "<|tool_call_end|>"),
    *(Opener(f"<{space}function_calls>", "invoke", f"</{space}function_calls>") for space in ("", *NAMESPACES)),
    *(Opener(f"<{space}invoke ", "invoke", f"</{space}invoke>", inside=True) for space in ("", *NAMESPACES)),
)
"""Those that tell a call from other text by themselves."""

OPENERS: Final = (
    *MARKED,
    Opener("```", "fenced", "```"),
    Opener("{", "bare", inside=True),
    Opener("[", "bare", inside=True),
)
"""All of them."""
