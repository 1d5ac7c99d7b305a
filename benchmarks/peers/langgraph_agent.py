"""LangGraph's prebuilt agent on LangChain's client, streamed."""

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

from benchmarks.peers.contender import QUESTION, Run, compete, look


@asynccontextmanager
async def contender(url: str) -> AsyncIterator[Run]:
    """One graph."""
    warnings.simplefilter("ignore")  # that this agent is about to move to another package
    graph = create_react_agent(ChatOpenAI(model="bench", base_url=url, api_key="none", streaming=True), [look])

    async def run() -> str:
        said = []
        async for message, _ in graph.astream({"messages": [("user", QUESTION)]}, stream_mode="messages"):
            said.append(str(message.content) if message.type == "AIMessageChunk" else "")
        return "".join(said)

    yield run


if __name__ == "__main__":
    compete(contender)
