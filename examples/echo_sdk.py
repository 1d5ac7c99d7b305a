"""A strategy with the SDK."""

from collections.abc import Iterator
from typing import Any

from enfilade_sdk import AgentStrategy, AgentStrategyParameter, Session, ToolInvokeMessage


class Polite(AgentStrategy):
    """Asks the model once, politely."""

    name = "polite"
    parameters = (AgentStrategyParameter(name="query", type="string", required=True),)

    def invoke(self, *, params: dict[str, Any], session: Session) -> Iterator[ToolInvokeMessage]:
        call = session.model.invoke([{"role": "user", "content": f"Please: {params['query']}"}])
        for chunk in call:
            yield self.create_text_message(chunk.text)
