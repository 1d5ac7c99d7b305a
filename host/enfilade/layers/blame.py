"""Finds out whose fault an exception is that came through an onion of layers."""

from collections.abc import Iterable, Mapping, Sequence
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


def culprit(
    error: BaseException, methods: Mapping[CodeType, str], streams: Iterable[tuple[str, object]], innermost: object
) -> str | None:
    """The layer whose code raised the exception; None when it only came through from what the layers stand around.

    Args:
        error: The exception, with its traceback.
        methods: See `code_of`.
        streams: What the layers gave, with their names, an inner one before an outer one that only passes it on.
        innermost: What the layers stand around.
    """
    names = dict(methods)
    for name, stream in streams:
        if (code := getattr(stream, "ag_code", None)) is not None:
            names.setdefault(code, name)
    own = getattr(innermost, "ag_code", None)
    found = None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code is own:
            return None
        found = names.get(code, found)
        trace = trace.tb_next
    return found
