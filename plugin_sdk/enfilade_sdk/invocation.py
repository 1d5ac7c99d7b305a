"""One run as a value: everything a strategy is given at its start."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from enfilade_sdk.prompts import PromptMessage, PromptTool


class InvokeCredentials(BaseModel):
    """References to credentials that the host holds; never the secrets themselves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_credentials: dict[str, str] = Field(default_factory=dict)


class ModelInfo(BaseModel):
    """The run's model and what it can do.

    Attributes:
        name: What the provider calls it.
        provider: Which provider answers for it.
        tools: Whether it takes tools and asks for them.
        vision: Whether it takes images.
        stop_words: Whether it accepts stop words.
        streaming: Whether it can stream; one that cannot gives one chunk.
        context_window: Tokens it can take; 0 is unknown.
        completion: Whether it is a base model behind the completions form.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    provider: str = ""
    tools: bool = True
    vision: bool = False
    stop_words: bool = True
    streaming: bool = True
    context_window: int = 0
    completion: bool = False


class File(BaseModel):
    """A file of the question: an `https:` or `data:` URL, its type and name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    mime_type: str = ""
    filename: str = ""

    @property
    def is_image(self) -> bool:
        """Whether a model with vision can look at it."""
        return self.mime_type.startswith("image/") or self.url.startswith("data:image/")


@dataclass(frozen=True, slots=True)
class Invocation:
    """What one run is given. `deadline` is in seconds from its start, None for no deadline."""

    strategy: str
    params: dict[str, Any]
    run_id: str = ""
    user_id: str = ""
    conversation_id: str | None = None
    app_id: str | None = None
    message_id: str | None = None
    credentials: InvokeCredentials | None = None
    deadline: float | None = None
    model: ModelInfo = field(default_factory=ModelInfo)
    tools: tuple[PromptTool, ...] = ()
    history: tuple[PromptMessage, ...] = ()
    files: tuple[File, ...] = ()
    traceparent: str = ""
