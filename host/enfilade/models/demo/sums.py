"""Arithmetic in a question."""

import ast
import re

_SPOKEN = (
    (r"\bsquare root of (-?\d+(?:\.\d+)?)", r"sqrt(\1)"),
    (r"\b(\d+(?:\.\d+)?)\s*(?:%|percent) of (\d+(?:\.\d+)?)", r"\1 / 100 * \2"),
    (r"\b(?:to the power of|raised to)\b", "**"),
    (r"\bsquared\b", "** 2"),
    (r"\bcubed\b", "** 3"),
    (r"\b(?:multiplied by|times)\b", "*"),
    (r"\b(?:divided by|over)\b", "/"),
    (r"\bplus\b", "+"),
    (r"\b(?:minus|less)\b", "-"),
    (r"(?<=\d)\s*[x\u00d7]\s*(?=\d)", " * "),
    ("\u00f7", "/"),
    (r"\^", "**"),
    (r"(?<=\d),(?=\d{3}\b)", ""),
)
_DATE = re.compile(r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b\d{1,2}:\d{2}\b")
_RUN = re.compile(r"(?:sqrt\(|[\d(.\-])(?:sqrt\(|[\d\s.()+\-*/%])*[\d)]")


def expression_in(text: str) -> str | None:
    """The longest arithmetic expression in a text, spoken operators included; None when there is none."""
    plain = _DATE.sub(" ; ", text)
    for pattern, sign in _SPOKEN:
        plain = re.sub(pattern, sign, plain, flags=re.IGNORECASE)
    found = [run[0].strip() for run in _RUN.finditer(plain)]
    return max(filter(_is_sum, found), key=len, default=None)


def _is_sum(text: str) -> bool:
    """Whether a text is Python arithmetic with at least one operation."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return isinstance(tree.body, ast.BinOp | ast.Call)
