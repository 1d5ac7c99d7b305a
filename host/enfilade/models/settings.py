"""What is known of one model: where it is, what it can do, how to speak with it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from enfilade.secrecy.variable import VariableName
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.markup.kinds import ALL_MARKUPS, Markup


class ModelSettings(BaseModel):
    """One model of the configuration (`[models.NAME]`).

    Attributes:
        name: What the provider calls the model; empty means the name it has in the configuration.
        provider: Which kind of provider answers: `openai` for any OpenAI-compatible endpoint, `demo` for the built-in
            rules.
        base_url: The endpoint, up to and without `/chat/completions`; a query, such as `?api-version=...`, goes with
            every request. None is the openai client's own default.
        api_key_env: The environment variable that holds the key. Without it, OpenAI's own endpoint is given
            `OPENAI_API_KEY` and every other one a placeholder, never a key that was meant for someone else.
        headers_env: Further HTTP headers: header name to the environment variable that holds its value.
        tools: Whether the model takes tools and can ask for them.
        vision: Whether it takes images; from a model without, images are kept back.
        stop_words: Whether it accepts stop words; to a model that does not, none are sent.
        streaming: Whether it can stream; one that cannot is asked for a whole reply, which comes as one chunk.
        context_window: How many tokens it can take; 0 is unknown.
        completion: Whether it is a base model behind the completions form (one text) instead of chat.
        echo_reasoning: Whether the reasoning of this turn's tool rounds goes back to the model. `auto` sends it in
            the field it came in and stops when the provider refuses that field; true always sends it; false never.
        text_tool_calls: Which markups of a tool call in the text are taken for a call, where the tool was offered and
            the arguments are valid: `tagged` (`<tool_call>{...}</tool_call>` and kin), `function`
            (`<function=name>{...}</function>`), `mistral` (`[TOOL_CALLS] [...]`), `python_tag`, `sections` (the special
            tokens of DeepSeek and Kimi), `invoke` (`<invoke name="...">`, in a namespace too), `fenced` (a code block
            that ends the reply, as JSON or as Gemma's `tool_code`), `bare` (a reply that is nothing but the call, as
            JSON or as `[name(key=value)]`). Empty turns this off.
        parameters: Sampling defaults such as `temperature` or `max_tokens`; those of a request win.
        timeout: Seconds to wait for the next piece of an answer (and for a connection, at most 10 of them).
        max_retries: How often the client asks again before the first piece came (HTTP 408, 409, 429, 5xx, no
            connection), with back-off and `Retry-After`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = ""
    provider: str = "openai"
    base_url: str | None = None
    api_key_env: VariableName | None = None
    headers_env: dict[str, VariableName] = Field(default_factory=dict)
    tools: bool = True
    vision: bool = False
    stop_words: bool = True
    streaming: bool = True
    context_window: int = Field(default=0, ge=0)
    completion: bool = False
    echo_reasoning: Literal["auto"] | bool = "auto"
    text_tool_calls: tuple[Markup, ...] = ALL_MARKUPS
    parameters: dict[str, Any] = Field(default_factory=dict)
    timeout: float = Field(default=120.0, gt=0)
    max_retries: int = Field(default=2, ge=0, le=10)

    @field_validator("base_url")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.startswith(("http://", "https://")):
            raise ValueError(f"must start with http:// or https://, got {value!r}")
        path, mark, query = value.partition("?")
        return path.rstrip("/").removesuffix("/chat/completions") + mark + query

    def info(self) -> ModelInfo:
        """What a strategy is told of the model."""
        return ModelInfo(
            name=self.name,
            provider=self.provider,
            tools=self.tools,
            vision=self.vision,
            stop_words=self.stop_words,
            streaming=self.streaming,
            context_window=self.context_window,
            completion=self.completion,
        )
