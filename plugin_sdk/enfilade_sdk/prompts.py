"""What goes to a model and what comes back from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from enfilade_sdk.errors import InvalidParamsError


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TextPart(_Value):
    """A text among the parts of a user's message."""

    type: Literal["text"] = "text"
    text: str


class ImageUrl(_Value):
    """Where an image is: an `https:` or a `data:` URL, and how finely to look at it."""

    url: str
    detail: Literal["auto", "low", "high"] | None = None


class ImagePart(_Value):
    """An image among the parts of a user's message, for models with vision."""

    type: Literal["image_url"] = "image_url"
    image_url: ImageUrl


ContentPart = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class ToolCall(_Value):
    """One complete call a model asked for.

    Attributes:
        id: Unique within its round.
        name: The tool's name as the model wrote it.
        arguments: JSON text of the arguments, as it goes back to the model.
        parsed: The arguments as an object; None when they could not be read.
        error: What is wrong with the arguments, for the model; None when nothing is.
        repaired: Whether quoting or comma faults were mended to read them.
    """

    id: str
    name: str
    arguments: str = "{}"
    parsed: dict[str, Any] | None = None
    error: str | None = None
    repaired: bool = False


class SystemMessage(_Value):
    """The instruction of an agent."""

    role: Literal["system"] = "system"
    content: str


class UserMessage(_Value):
    """What the user said, as text or as parts."""

    role: Literal["user"] = "user"
    content: str | list[ContentPart]


class AssistantMessage(_Value):
    """What the model said and which tools it asked for."""

    role: Literal["assistant"] = "assistant"
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None


class ToolMessage(_Value):
    """The result of one call, for the model."""

    role: Literal["tool"] = "tool"
    tool_call_id: str
    content: str
    name: str | None = None
    is_error: bool = False


PromptMessage = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]

PROMPTS: TypeAdapter[list[PromptMessage]] = TypeAdapter(list[PromptMessage])
PROMPT: TypeAdapter[PromptMessage] = TypeAdapter(PromptMessage)


def prompts_of(messages: Sequence[PromptMessage | Mapping[str, Any]]) -> list[PromptMessage]:
    """Reads prompt messages given as ours or as dicts of the OpenAI chat form.

    Raises:
        InvalidParamsError: One of them is not a prompt message; the text names it by its place.
    """
    if isinstance(messages, str | bytes | Mapping):
        raise InvalidParamsError(
            f"messages: expected a list of prompt messages, got a {type(messages).__name__}; "
            'write [{"role": "user", "content": "..."}]'
        )
    try:
        return PROMPTS.validate_python([_plain(m) if isinstance(m, Mapping) else m for m in messages])
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidParamsError(f"messages are not valid prompt messages: {faults}") from None


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """Ours from the OpenAI form: calls lose their `function` shell, `reasoning_content` becomes `reasoning`."""
    form = dict(message)
    if "reasoning_content" in form:
        form.setdefault("reasoning", form.pop("reasoning_content"))
    if form.get("tool_calls") is None:
        form.pop("tool_calls", None)
    else:
        form["tool_calls"] = [_plain_call(call) for call in form["tool_calls"]]
    return form


def _plain_call(call: Any) -> Any:
    if isinstance(call, Mapping) and isinstance(call.get("function"), Mapping):
        return {"id": call.get("id"), **call["function"]}
    return call


class PromptTool(_Value):
    """A tool as a model sees it (the OpenAI function form without its shell).

    Attributes:
        name: 1 to 64 characters of `a-z A-Z 0-9 _ -`.
        description: What it does, in words for the model.
        parameters: JSON Schema of the arguments, an object schema.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})

    def to_openai(self) -> dict[str, Any]:
        """The shell that chat endpoints expect."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


class Usage(_Value):
    """Tokens of one or several model calls; None is unknown, which is not 0."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: _sum(getattr(self, name), getattr(other, name)) for name in Usage.model_fields})


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of a call as it is being written, for display only."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """What arrived since the last chunk: text, reasoning, pieces of calls."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelResult:
    """The end of a model call: the assembled message, why it ended, what it used.

    Attributes:
        message: The whole assistant message; its tool calls are complete and have unique ids.
        finish_reason: `stop`, `tool_calls`, `length`, `content_filter`, or the provider's own word.
        usage: Tokens as the provider reported them.
        model: The name the provider gave the model.
        seconds: Time from the request to the end.
    """

    message: AssistantMessage
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The end of a tool call.

    Attributes:
        text: What the model is told.
        is_error: Whether the call failed; the text then says why and what to do.
        seconds: How long it took.
        details: JSON values: `arguments` as the tool got them, `provider`, `code` of an error.
    """

    text: str
    is_error: bool = False
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model, as a strategy asks for it.

    Attributes:
        messages: The prompt.
        tools: The tools the model may ask for; empty takes them away.
        tool_choice: `auto`, `none`, `required`, or an object naming one; None leaves it to the provider.
        stop: Words at which the model is to stop.
        parameters: Sampling settings such as `temperature`, `max_tokens`.
        stream: Whether chunks are wanted.
        model: The model's name; None is the run's own model.
        completion: Whether to use the completions form (one text) instead of chat.
        known_tools: Names of the tools that the run has offered so far, now or earlier; the host fills them in, they
            never travel.
    """

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...] = ()
    tool_choice: str | dict[str, Any] | None = None
    stop: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    stream: bool = True
    model: str | None = None
    completion: bool = False
    known_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One call of a tool: its name, its arguments (JSON text or an object), the id the model gave it."""

    name: str
    arguments: str | Mapping[str, Any]
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class StorageRequest:
    """One use of the small storage: `get`, `set` or `delete` of a key."""

    verb: Literal["get", "set", "delete"]
    key: str
    value: Any = None
