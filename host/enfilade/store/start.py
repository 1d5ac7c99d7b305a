"""What is known of a run when it begins."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from enfilade_sdk.invocation import File
from enfilade_sdk.prompts import PromptMessage


@dataclass(frozen=True, slots=True)
class RunStart:
    """One run at its beginning.

    Attributes:
        run_id: Its id.
        strategy: The strategy's name.
        question: What is asked.
        plugin: The plugin that offers the strategy.
        model: The run's model.
        provider: Who answers for the model.
        user_id: Who asks.
        conversation_id: The conversation it belongs to; None for none.
        app_id: The application it comes from.
        message_id: The application's id of the message.
        params: The strategy's parameters, secrets masked (`masked_params`).
        files: Files that come with the question.
        history: The earlier turns it was given; not kept, they stand in their own runs' records.
        secrets: Texts that must not stand in any record (`secrets_of`); they are masked wherever the run writes them,
            and not kept themselves.
        trace: The caller's `traceparent` and `tracestate`; not kept.
    """

    run_id: str
    strategy: str
    question: str
    plugin: str = ""
    model: str = ""
    provider: str = ""
    user_id: str = ""
    conversation_id: str | None = None
    app_id: str | None = None
    message_id: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    history: tuple[PromptMessage, ...] = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    trace: Mapping[str, str] = field(default_factory=dict, repr=False)
