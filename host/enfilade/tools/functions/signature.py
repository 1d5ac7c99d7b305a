"""A Python function's signature: the schema of its arguments, and the call they make."""

import contextlib
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import GenericAlias
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from enfilade.tools.arguments.reader import ArgumentsError
from enfilade.tools.functions.docstring import Documentation
from enfilade.tools.schemas.keywords import Schema
from enfilade_sdk.errors import EnfiladeError, ErrorCode

_FROM_DEFAULT: dict[type, Any] = {bool: bool, int: int, float: float, str: str, list: list[Any], dict: dict[str, Any]}
_MOST_FAULTS = 10
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class SignatureError(EnfiladeError):
    """A function cannot be offered to a model as it is; the text says which parameter is why."""

    code = ErrorCode.NOT_ADMITTED


class _Plain(GenerateJsonSchema):
    """Without titles, and without a word about a default that is not JSON: the function fills that in itself."""

    ignored_warning_kinds = {"non-serializable-default", "skipped-choice"}  # noqa: RUF012 - as the parent has it

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the parent's signature
        return False


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one call, as Python wants them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Signature:
    """Knows how a function is called.

    Parameters that have a default and a type that no JSON value can become are left to their default.

    Args:
        function: Anything that can be called and has a signature.
        name: What it is called in errors.
        documentation: The words of its docstring.

    Raises:
        SignatureError: It has no signature, or a parameter without a default cannot be made from JSON.
    """

    def __init__(self, function: Callable[..., object], name: str, documentation: Documentation) -> None:
        self._name = name
        self._signature = _signature(function, name)
        hints = _hints(function)
        fields: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._rest: TypeAdapter[Any] | None = None
        for place, parameter in enumerate(self._signature.parameters.values()):
            annotation = _annotation(parameter, hints)
            if not _fits_json(parameter, annotation, name):
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                of_rest: Any = GenericAlias(dict, (str, annotation))
                self._rest = TypeAdapter(of_rest)
            else:
                self._names[f"p{place}"] = parameter.name
                fields[f"p{place}"] = _field(parameter, annotation, documentation.parameters.get(parameter.name))
        config = ConfigDict(extra="forbid" if self._rest is None else "allow", regex_engine="python-re")
        self._model = create_model(name, __config__=config, **fields)

    @property
    def schema(self) -> Schema:
        """JSON Schema of the arguments."""
        schema: Schema = self._model.model_json_schema(by_alias=True, schema_generator=_Plain)
        schema.pop("title", None)
        if self._rest is not None:
            others = self._rest.json_schema(schema_generator=_Plain)
            schema["additionalProperties"] = others.get("additionalProperties", True)
            schema["$defs"] = {**schema.get("$defs", {}), **others.get("$defs", {})}
        return schema

    def call(self, arguments: dict[str, Any]) -> Call:
        """The call that arguments make.

        Raises:
            ArgumentsError: They do not fit; the text names each parameter that does not.
        """
        try:
            read = self._model.model_validate(arguments)
            others = self._rest.validate_python(read.model_extra or {}) if self._rest is not None else {}
        except ValidationError as error:
            raise ArgumentsError(self._complaint(error)) from None
        given = {
            name: getattr(read, field)
            for field, name in self._names.items()
            if field in read.model_fields_set or isinstance(self._signature.parameters[name].default, FieldInfo)
        }
        bound = self._signature.bind_partial()
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                bound.arguments[name] = others
            elif name in given:
                bound.arguments[name] = (
                    tuple(given[name]) if parameter.kind is parameter.VAR_POSITIONAL else given[name]
                )
        bound.apply_defaults()
        return Call(bound.args, bound.kwargs)

    def _complaint(self, error: ValidationError) -> str:
        faults = [
            f"- {'.'.join(map(str, fault['loc'])) or 'the arguments'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_context=False)[:_MOST_FAULTS]
        ]
        return "\n".join([f"the arguments do not fit the tool {self._name}:", *faults])


def _signature(function: Callable[..., object], name: str) -> inspect.Signature:
    if inspect.isclass(function):
        raise SignatureError(f"{name} is a class; a tool is a function, or an object with __call__")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise SignatureError(f"{name} has no signature to read; wrap it in a Python function") from None
    if next(iter(signature.parameters), None) == "self" and "." in getattr(function, "__qualname__", ""):
        owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
        raise SignatureError(f"{name} is a method of {owner} without its object; give {owner}(...).{name}")
    return signature


def _hints(function: Any) -> dict[str, Any]:
    """The annotations, those in quotes resolved where that is possible."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if not inspect.isroutine(function):
        function = type(function).__call__
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # one name is unknown at run time, perhaps only that of the result
        return _hints_one_by_one(function)


def _hints_one_by_one(function: Any) -> dict[str, Any]:
    hints: dict[str, Any] = {}
    names = getattr(function, "__globals__", {})
    for name, annotation in getattr(function, "__annotations__", {}).items():
        alone = type("Alone", (), {"__annotations__": {name: annotation}})
        with contextlib.suppress(NameError, TypeError):
            hints.update(get_type_hints(alone, globalns=names, include_extras=True))
    return hints


def _annotation(parameter: inspect.Parameter, hints: dict[str, Any]) -> Any:
    annotation = hints.get(parameter.name, parameter.annotation)
    if annotation is not parameter.empty:
        return annotation
    default = parameter.default.default if isinstance(parameter.default, FieldInfo) else parameter.default
    return _FROM_DEFAULT.get(type(default), Any)


def _fits_json(parameter: inspect.Parameter, annotation: Any, name: str) -> bool:
    try:
        TypeAdapter(annotation).json_schema(schema_generator=_Plain)
    except (PydanticUserError, NameError, TypeError) as error:
        optional = parameter.default is not parameter.empty or parameter.kind in _VARIADIC
        if optional and isinstance(error, PydanticUserError):
            return False
        raise SignatureError(
            f"the function {name} cannot be a tool: its parameter {parameter.name!r} has the type "
            f"{_type_name(annotation)}, which cannot be made from JSON; {_remedy(error)}"
        ) from None
    return True


def _remedy(error: Exception) -> str:
    if isinstance(error, PydanticUserError) and error.code == "typed-dict-version":
        return "take TypedDict from typing_extensions on a Python before 3.12"
    return "give it another type, or a default"


def _type_name(annotation: Any) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else repr(annotation).replace("typing.", "")


def _field(parameter: inspect.Parameter, annotation: Any, documented: str | None) -> tuple[Any, Any]:
    """The type and the pydantic field of a parameter; words at the parameter itself win over the docstring's."""
    words = _own_words(annotation) or documented
    default = parameter.default
    if parameter.kind is parameter.VAR_POSITIONAL:
        return GenericAlias(list, (annotation,)), Field(alias=parameter.name, description=words, default_factory=list)
    if isinstance(default, FieldInfo):  # n: int = Field(3, ge=1)
        annotation, words = Annotated[annotation, default], default.description or words
        default = parameter.empty if default.is_required() else default.get_default(call_default_factory=True)
    if default is parameter.empty:
        return annotation, Field(alias=parameter.name, description=words)
    return annotation, Field(alias=parameter.name, description=words, default=default)


def _own_words(annotation: Any) -> str | None:
    if get_origin(annotation) is not Annotated:
        return None
    for extra in get_args(annotation)[1:]:
        words = (
            extra if isinstance(extra, str) else getattr(extra, "description", getattr(extra, "documentation", None))
        )
        if isinstance(words, str) and words:
            return words
    return None
