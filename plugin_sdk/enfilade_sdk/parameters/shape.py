"""The shapes of values that stand for things of the host: files, models, apps, tools.

Check and JSON Schema are both read from one shape, so that they cannot disagree.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from enfilade_sdk.parameters.fault import brief
from enfilade_sdk.parameters.kind import ParameterType
from enfilade_sdk.parameters.scope import APP_MODES, MEDIA, MODEL_TYPES, TOOL_KINDS, allowed

_URL_SHOWN = 20  # enough to see what was meant; a signature at a URL's end stays out of messages


@dataclass(frozen=True, slots=True)
class Member:
    """What one key of an object may hold.

    Attributes:
        is_object: It is an object; else a text.
        filled: The text may not be empty.
        choices: The texts there are; none for any.
        prefixes: What the text begins with; none for anything. An empty text passes unless `filled`.
    """

    is_object: bool = False
    filled: bool = False
    choices: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """The rule in words."""
        if self.is_object:
            return "an object"
        if self.choices:
            return f"one of {', '.join(map(repr, self.choices))}"
        if self.prefixes:
            return f"a text that begins with {' or '.join(map(repr, self.prefixes))}"
        return "a text that is not empty" if self.filled else "a text"

    def takes(self, value: object) -> bool:
        """Whether a value keeps the rule."""
        if self.is_object:
            return isinstance(value, dict)
        if not isinstance(value, str):
            return False
        if value == "":
            return not self.filled
        return (not self.choices or value in self.choices) and (not self.prefixes or value.startswith(self.prefixes))

    def schema(self) -> dict[str, Any]:
        """The rule as JSON Schema."""
        if self.is_object:
            return {"type": "object"}
        form: dict[str, Any] = {"type": "string"}
        if self.choices:
            return form | {"enum": list(self.choices) if self.filled else ["", *self.choices]}
        if self.prefixes:
            pattern = {"pattern": f"^({'|'.join(self.prefixes)})"}
            return form | (pattern if self.filled else {"anyOf": [{"maxLength": 0}, pattern]})
        return form | ({"minLength": 1} if self.filled else {})


@dataclass(frozen=True, slots=True)
class Shape:
    """An object that names a thing of the host, or a plain text that does.

    Attributes:
        noun: What it stands for, with its article.
        plain: Whether a text alone will do.
        named_by: Keys of which one is needed.
        members: Rules of keys; other keys are free.
    """

    noun: str
    plain: bool
    named_by: tuple[str, ...]
    members: Mapping[str, Member] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        """The shape in words."""
        keys = " or ".join(map(repr, self.named_by))
        return f"{self.noun}: {'a name, or ' if self.plain else ''}an object with {keys}"

    def faults(self, value: object) -> Iterator[tuple[str, str]]:
        """What is wrong with a value, as pairs of expected and found."""
        if isinstance(value, str) and self.plain:
            if not value:
                yield self.expected, "an empty text"
        elif not isinstance(value, dict):
            yield self.expected, brief(value, _URL_SHOWN)
        else:
            yield from self._object_faults(value)

    def _object_faults(self, value: dict[str, Any]) -> Iterator[tuple[str, str]]:
        if not any(key in value for key in self.named_by):
            yield self.expected, f"an object without {' and '.join(map(repr, self.named_by))}"
        for key, member in self.members.items():
            if key in value and not member.takes(value[key]):
                yield f"under {key!r} {member.expected}", brief(value[key], _URL_SHOWN)

    def schema(self) -> dict[str, Any]:
        """The shape as JSON Schema."""
        form: dict[str, Any] = {"type": "object", "properties": {k: m.schema() for k, m in self.members.items()}}
        if len(self.named_by) == 1:
            form["required"] = list(self.named_by)
        else:
            form["anyOf"] = [{"required": [key]} for key in self.named_by]
        return {"anyOf": [{"type": "string", "minLength": 1}, form]} if self.plain else form


def shape_of(kind: ParameterType, scope: str | None) -> Shape | None:
    """The shape of one value (one item, for `files` and `array[tools]`); None for types that have none."""
    match kind:
        case ParameterType.FILE | ParameterType.FILES:
            return _file(allowed(scope, MEDIA))
        case ParameterType.MODEL_SELECTOR:
            return _model(allowed(scope, MODEL_TYPES))
        case ParameterType.APP_SELECTOR:
            return _app(allowed(scope, APP_MODES))
        case ParameterType.TOOLS:
            return _tool(allowed(scope, TOOL_KINDS))
        case _:
            return None


def _file(media: tuple[str, ...]) -> Shape:
    data_urls = tuple(f"data:{prefix}" for prefix in media) or ("data:",)
    members = {
        "url": Member(filled=True, prefixes=("https://", "http://", *data_urls)),
        "id": Member(filled=True),
        "mime_type": Member(prefixes=media),
        "filename": Member(),
    }
    return Shape("a file", plain=False, named_by=("url", "id"), members=members)


def _model(types: tuple[str, ...]) -> Shape:
    members = {
        "model": Member(filled=True),
        "provider": Member(),
        "mode": Member(),
        "model_type": Member(choices=types),
        "completion_params": Member(is_object=True),
    }
    return Shape("a model", plain=True, named_by=("model",), members=members)


def _app(modes: tuple[str, ...]) -> Shape:
    members = {"app_id": Member(filled=True), "mode": Member(choices=modes), "inputs": Member(is_object=True)}
    return Shape("an app", plain=True, named_by=("app_id",), members=members)


def _tool(kinds: tuple[str, ...]) -> Shape:
    members = {
        "name": Member(filled=True),
        "tool_name": Member(filled=True),
        "tool": Member(filled=True),
        "type": Member(choices=kinds),
        "provider_type": Member(choices=kinds),
    }
    return Shape("a tool", plain=True, named_by=("name", "tool_name", "tool"), members=members)
