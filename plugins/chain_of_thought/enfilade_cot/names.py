"""The names of tools as models write them."""

import re

from enfilade_cot.spacing import trim

FINAL = frozenset({"finalanswer", "最终答案", "最终回答", "最终回复", "最终答复"})
"""Names of an action that is the final answer, their letters alone."""

FINISH = frozenset({"finish", "finalresponse", "answer", "respond", "reply"})
"""Names of such an action when something is given to it."""

_WRAPPING = "\"'`*\u201c\u201d\u2018\u2019<>"
_BRACKETS = {"[": "]", "(": ")", "{": "}"}
_TRAILING = ".,;:\u3002\uff0c\uff1b\uff1a"
_LONGEST = 200  # no tool's name is longer; what is, is not looked into
_AROUND = re.compile(
    r"(?:(?:use|using|call|invoke|run)\s+)?(?:the\s+)?[\"'`*]*(?:functions\.)?(?P<name>.+?)[\"'`*]*(?:\s+(?:tool|function|action))?",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"[-\u2014]+\s*\Z|(?:none|null|nil|n/?a|nothing|no (?:further |more |other |additional )?(?:action|tool|need)s?"
    r"|not (?:needed|applicable|required)|(?:i |we )?(?:do|will|wo) ?n[o'\u2019]?t "
    r"(?:need|require|use)|无)(?!\w)",
    re.IGNORECASE,
)


def clean(text: str, tools: frozenset[str]) -> str:
    """The name without quotes, emphasis, brackets around it and a full stop behind it.

    Args:
        text: What stands where a name is expected.
        tools: The names there are; one of them is taken as it stands.
    """
    name = trim(text)
    while name and name not in tools and len(name) <= _LONGEST:
        shorter = trim(name.strip(_WRAPPING).rstrip(_TRAILING))
        if shorter and _BRACKETS.get(shorter[0]) == shorter[-1]:
            shorter = shorter[1:-1]
        shorter = shorter.removesuffix("()")
        if shorter == name:
            break
        name = shorter
    return name if name in tools else _bare(name, tools)


def _bare(name: str, tools: frozenset[str]) -> str:
    """The tool in `functions.search`, `the search tool`, `Use search`; else the name as it is."""
    if len(name) > _LONGEST:
        return name
    words = _AROUND.fullmatch(name)
    return words["name"] if words and words["name"] in tools else name


def is_finish(name: str) -> bool:
    """Whether an action of this name ends the work, if something is given to it."""
    return name.lower().replace("_", "") in FINISH


def is_final(name: str) -> bool:
    """Whether an action of this name is the final answer."""
    return "".join(c for c in name.lower() if c.isalpha()) in FINAL


def is_none(name: str) -> bool:
    """Whether the model says that there is no action."""
    return not name or _NONE.match(name) is not None
