"""A knowledge base as a tool."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from enfilade.tools.json_value import clean_text
from enfilade.tools.knowledge.retriever import Passage, Retriever
from enfilade_sdk.errors import InvalidParamsError
from enfilade_sdk.messages import ToolInvokeMessage, retriever_message, text_message

RESULTS = 5
"""How many passages an answer has where nothing else is said."""

_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for: a question, or the words that matter in it."}
    },
    "required": ["query"],
}


class KnowledgeTool:
    """Finds passages: as text for the model, and as resources for the user.

    Args:
        knowledge: The knowledge base's name; the tool is called `search_NAME`.
        description: What is in it, in words for the model.
        retriever: Finds the passages.
        results: How many an answer has at most.
        timeout: Seconds one search may take; None for the engine's own limit.
        secrets: Texts that no error may show.
    """

    def __init__(
        self,
        knowledge: str,
        description: str,
        retriever: Retriever,
        *,
        results: int = RESULTS,
        timeout: float | None = None,
        secrets: frozenset[str] = frozenset(),
    ) -> None:
        self.name = f"search_{knowledge}"
        self.description = description
        self.schema: object = _SCHEMA
        self.provider = f"knowledge:{knowledge}"
        self.timeout = timeout
        self.secrets = secrets
        self._knowledge = knowledge
        self._retriever = retriever
        self._results = results

    async def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
        """Searches once.

        Raises:
            InvalidParamsError: There is nothing to look for in the query.
            EnfiladeError: The retriever cannot look.
        """
        query = clean_text(str(arguments["query"])).strip()
        if not query:
            raise InvalidParamsError("query is empty; expected a question, or words to look for")
        passages = await self._retriever.retrieve(query, self._results)
        yield text_message(answer_text(passages, self._knowledge))
        if passages:
            resources = [passage.resource(rank, self._knowledge) for rank, passage in enumerate(passages, 1)]
            yield retriever_message(resources)


def answer_text(passages: Sequence[Passage], knowledge: str) -> str:
    """What the model is told: each passage under a line with its number and source."""
    if not passages:
        return f"nothing in the knowledge base {knowledge!r} fits the query; other words may find something"
    return "\n\n".join(f"[{rank}] {passage.source}\n{passage.text}" for rank, passage in enumerate(passages, 1))
