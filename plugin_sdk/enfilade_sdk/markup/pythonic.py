"""Calls written in Python, as Llama and Gemma do: `[search(query="x"), calc(expression="1+1")]`."""

import ast
import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from enfilade_sdk.markup.prefixes import without_prefix

LONGEST = 2**16
"""Characters that are looked at; what is longer is no call."""

_PRINT = "print"
_CALL = "call"


def python_calls(
    text: str, menu: Mapping[str, Mapping[str, Any]], *, printed: bool = False
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls in a text that is nothing else: one a line, or a list of them.

    Args:
        text: Python.
        menu: The tools that may be called, for the names of values that are given without one.
        printed: Whether `print(...)` may stand around a call.

    Raises:
        ValueError: It is something else.
    """
    if len(text) > LONGEST:
        raise ValueError("too long")
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError("no Python") from None
    for statement in body:
        if not isinstance(statement, ast.Expr):
            raise ValueError("a statement")  # noqa: TRY004 - the text is wrong, not a type of ours
        value = statement.value
        for item in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
            yield _call(_unprinted(item) if printed else item, menu)


def python_value(text: str) -> Any:
    """The value that a text is as Python writes it.

    Raises:
        ValueError: It is none.
    """
    if len(text) > LONGEST:
        raise ValueError("too long")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape in the model's text
            value = ast.literal_eval(text.strip())
    except (SyntaxError, MemoryError, RecursionError, TypeError):
        raise ValueError("no Python") from None
    return _as_json(value)


def _as_json(value: Any) -> Any:
    """The value, where JSON has it too."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(inner) for inner in value]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError("a value that JSON does not have")


def _unprinted(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _PRINT and node.args:
        return node.args[0]
    return node


def _call(node: ast.expr, menu: Mapping[str, Mapping[str, Any]]) -> tuple[str, dict[str, Any]]:
    if not isinstance(node, ast.Call):
        raise ValueError("no call")  # noqa: TRY004
    name = without_prefix(ast.unparse(node.func).removesuffix(f".{_CALL}"))
    given = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords if keyword.arg}
    if len(given) != len(node.keywords):
        raise ValueError("arguments out of a variable")
    values = [ast.literal_eval(argument) for argument in node.args]
    if len(values) == 1 and isinstance(values[0], dict) and not given:
        return name, values[0]
    properties = menu.get(name, {}).get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    if len(values) > len(names):
        raise ValueError("values without a name")
    return name, {**dict(zip(names, values, strict=False)), **given}
