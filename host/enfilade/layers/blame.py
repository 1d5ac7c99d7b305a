"""Finds out whose fault an exception is that came through an onion of layers."""

from collections.abc import Mapping, Sequence
from types import CodeType

from enfilade.layers.layer import Layer, name_of


def code_of(layers: Sequence[Layer]) -> Mapping[CodeType, str]:
    """The layers' names by the code of their methods."""
    return {
        method.__code__: name_of(layer)
        for layer in layers
        for method in (type(layer).run, type(layer).model_call, type(layer).tool_call)
        if hasattr(method, "__code__") and method not in (Layer.run, Layer.model_call, Layer.tool_call)
    }


def culprit(error: BaseException, names: Mapping[CodeType, str], innermost: object) -> str | None:
    """The layer whose code raised the exception; None when it only came through from what the layers stand around.

    Args:
        error: The exception, with its traceback.
        names: See `code_of`.
        innermost: What the layers stand around.
    """
    found = None
    own = getattr(innermost, "ag_code", None)
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code is own:
            return None
        found = names.get(code, found)
        trace = trace.tb_next
    return found
