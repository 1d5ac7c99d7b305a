"""Values of parameters read from text, as a command line gives them."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from enfilade_sdk.parameters.check import invalid_params, undeclared_fault
from enfilade_sdk.parameters.declaration import AgentStrategyParameter
from enfilade_sdk.parameters.fault import ParameterFault, UnfitError, brief, shown_name
from enfilade_sdk.parameters.kind import ParameterType

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_DECIMAL = re.compile(r"[+-]?([0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})([eE][+-]?[0-9]{1,4})?")
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


def param_from_text(parameter: AgentStrategyParameter, text: str) -> Any:
    """Reads text as a value of a parameter's type; whether the value keeps the rules is for `check_params` to say.

    Texts, secrets and options are kept as they are. Numbers, `true`/`false`/`yes`/`no` and JSON (for arrays, objects,
    files, `any`) are read. A URL alone is a file, a name alone a model or an app; several options or tools may be
    written with commas between them.

    Raises:
        InvalidParamsError: The text is no such value.
    """
    try:
        return _READERS[parameter.type](parameter, text)
    except UnfitError as error:
        raise invalid_params([_fault(parameter, error)]) from None


def params_from_text(declared: Sequence[AgentStrategyParameter], pairs: Iterable[str]) -> dict[str, Any]:
    """Reads `KEY=VALUE` texts into params.

    Raises:
        InvalidParamsError: A pair has no `=`, a name is not declared or given twice, or a value cannot be read; the
            one error has all faults.
    """
    by_name = {parameter.name: parameter for parameter in declared}
    params: dict[str, Any] = {}
    faults: list[ParameterFault] = []
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            faults.append(ParameterFault(shown_name(name), "NAME=VALUE", "no '='", "write the value after a '='"))
        elif name not in by_name:
            faults.append(undeclared_fault(name, declared))
        elif name in params:
            faults.append(ParameterFault(name, "each name once", "it a second time", "give it once"))
        else:
            params[name] = _read(by_name[name], text, faults)
    if faults:
        raise invalid_params(faults)
    return params


def _read(parameter: AgentStrategyParameter, text: str, faults: list[ParameterFault]) -> Any:
    try:
        return _READERS[parameter.type](parameter, text)
    except UnfitError as error:
        faults.append(_fault(parameter, error))
        return None


def _fault(parameter: AgentStrategyParameter, error: UnfitError) -> ParameterFault:
    return ParameterFault(parameter.name, error.expected, error.found, error.remedy)


def _kept(_: AgentStrategyParameter, text: str) -> str:
    return text


def _number(_: AgentStrategyParameter, text: str) -> int | float:
    stripped = text.strip()
    if _INTEGER.fullmatch(stripped):
        return int(stripped)
    if _DECIMAL.fullmatch(stripped):
        return float(stripped)
    raise UnfitError("a number", brief(text), "write it like 3 or 0.5")


def _boolean(_: AgentStrategyParameter, text: str) -> bool:
    value = _BOOLEANS.get(text.strip().lower())
    if value is None:
        raise UnfitError("true, false, yes or no", brief(text), "write one of these")
    return value


def _select(parameter: AgentStrategyParameter, text: str) -> Any:
    if not parameter.multiple:
        return text
    return [text] if text in parameter.choices else _names(parameter, text)


def _names(parameter: AgentStrategyParameter, text: str) -> Any:
    if text.lstrip().startswith("["):
        return _json_of(parameter, text)
    return [name.strip() for name in text.split(",") if name.strip()]


def _named(parameter: AgentStrategyParameter, text: str) -> Any:
    return _json_of(parameter, text) if text.lstrip().startswith("{") else text


def _file(parameter: AgentStrategyParameter, text: str) -> Any:
    return _json_of(parameter, text) if text.lstrip().startswith("{") else {"url": text.strip()}


def _files(parameter: AgentStrategyParameter, text: str) -> Any:
    return _json_of(parameter, text) if text.lstrip().startswith("[") else [_file(parameter, text)]


def _json_of(parameter: AgentStrategyParameter, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = f"{brief(text)}, which is not JSON ({_reason(error)})"
        raise UnfitError(f"JSON for the type {parameter.type.value!r}", reason, _JSON_REMEDY[parameter.type]) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not in JSON")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "it is nested too deep"


_JSON_REMEDY = {
    ParameterType.SELECT: """write it like ["a", "b"] or a,b""",
    ParameterType.FILE: """write it like {"url": "https://..."} or https://...""",
    ParameterType.FILES: """write it like [{"url": "https://..."}]""",
    ParameterType.MODEL_SELECTOR: """write it like {"model": "name"} or name""",
    ParameterType.APP_SELECTOR: """write it like {"app_id": "id"} or id""",
    ParameterType.TOOLS: """write it like ["a", "b"] or a,b""",
    ParameterType.ARRAY: """write it like [1, "two"]""",
    ParameterType.OBJECT: """write it like {"key": "value"}""",
    ParameterType.ANY: """write it like 5, true, "text" (in quotes), [1] or {"key": "value"}""",
}

_READERS: dict[ParameterType, Callable[[AgentStrategyParameter, str], Any]] = {
    ParameterType.STRING: _kept,
    ParameterType.SECRET_INPUT: _kept,
    ParameterType.NUMBER: _number,
    ParameterType.BOOLEAN: _boolean,
    ParameterType.SELECT: _select,
    ParameterType.FILE: _file,
    ParameterType.FILES: _files,
    ParameterType.MODEL_SELECTOR: _named,
    ParameterType.APP_SELECTOR: _named,
    ParameterType.TOOLS: _names,
    ParameterType.ARRAY: _json_of,
    ParameterType.OBJECT: _json_of,
    ParameterType.ANY: _json_of,
}
