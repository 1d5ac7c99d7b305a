"""The class that authors may subclass."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, ClassVar

from enfilade_sdk.messages import (
    ToolInvokeMessage,
    blob_message,
    file_message,
    finish_log,
    json_message,
    log_message,
    retriever_message,
    text_message,
    url_message,
    variable_message,
)
from enfilade_sdk.parameters import AgentStrategyParameter
from enfilade_sdk.session import Session


class AgentStrategy(ABC):
    """A strategy with message makers at hand. Set `parameters` and write `invoke`, as a (async) generator."""

    meta_version: ClassVar[str | None] = "1"
    name: ClassVar[str | None] = None
    label: ClassVar[str | dict[str, str] | None] = None
    description: ClassVar[str | dict[str, str] | None] = None
    icon: ClassVar[str | None] = None
    features: ClassVar[Sequence[str]] = ()
    output_schema: ClassVar[dict[str, Any] | None] = None
    parameters: ClassVar[Sequence[AgentStrategyParameter]] = ()

    create_text_message = staticmethod(text_message)
    create_url_message = staticmethod(url_message)
    create_json_message = staticmethod(json_message)
    create_blob_message = staticmethod(blob_message)
    create_file_message = staticmethod(file_message)
    create_variable_message = staticmethod(variable_message)
    create_retriever_message = staticmethod(retriever_message)
    create_log_message = staticmethod(log_message)
    finish_log_message = staticmethod(finish_log)

    def get_parameters(self) -> Sequence[AgentStrategyParameter]:
        """The parameters it declares; `self.parameters` unless overridden."""
        return self.parameters

    @abstractmethod
    def invoke(
        self, *, params: dict[str, Any], session: Session
    ) -> Iterator[ToolInvokeMessage | str] | AsyncIterator[ToolInvokeMessage | str]:
        """Runs it: yields messages, dicts of their shape, or texts. May declare more keywords of the contract."""
