"""A knowledge base as a tool of an agent."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from enfilade.agent import AgentConfig
from enfilade.config import Config
from enfilade.host import Host
from enfilade.tools.engine import ToolEngine
from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions.threads import Threads
from enfilade.tools.knowledge.kind import knowledge_kind
from enfilade.tools.knowledge.retriever import Passage
from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade.tools.knowledge.tool import KnowledgeTool
from enfilade.tools.loader import load_tools
from enfilade.tools.registry import SourceRegistry
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.messages import MessageType, RetrieverResourcesPayload
from tests.knowledge.bases import added
from tests.knowledge.files import CHINESE, GUIDE
from tests.support.tool_calls import call, engine_of


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents; the user's data folder is in it."""
    monkeypatch.delenv("ENFILADE_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "guide.md").write_text(GUIDE)
    (tmp_path / "zh.md").write_text(CHINESE)
    return tmp_path


def file_of(folder: Path, name: str = "docs") -> Path:
    return folder / "data" / "enfilade" / "knowledge" / f"{name}.db"


@asynccontextmanager
async def loaded(folder: Path, *specs: str, **settings: Any) -> AsyncIterator[ToolEngine]:
    """An engine with knowledge bases; `settings` are those of `docs`."""
    sections = {"knowledge": {"docs": KnowledgeSettings.model_validate(settings)}}
    registry = SourceRegistry(folder, Threads(), kinds=[knowledge_kind()], sections=sections)
    engine = await load_tools([ToolEntry(tool=spec, required=True) for spec in specs], registry)
    try:
        yield engine
    finally:
        await engine.aclose()
        registry.close()


async def refusal(folder: Path, spec: str, **settings: Any) -> EnfiladeError:
    with pytest.raises(EnfiladeError) as caught:
        async with loaded(folder, spec, **settings):
            pass
    return caught.value


async def test_the_model_is_given_text_and_the_user_resources(folder: Path) -> None:
    await added(file_of(folder), folder / "guide.md", folder / "zh.md")
    async with loaded(folder, "knowledge:docs") as engine:
        called = await call(engine, "search_docs", '{"query": "What is the mooring fee?"}')
    assert called.text == (
        "[1] guide.md, Harbour guide > Mooring\nThe mooring fee is 14 pounds a night.\n\n"
        "- Pay at the office.\n- Visitors moor at the north pier."
    )
    assert called.kinds == [MessageType.TEXT, MessageType.RETRIEVER_RESOURCES]
    payload = called.messages[1].message
    assert isinstance(payload, RetrieverResourcesPayload)
    [resource] = payload.retriever_resources
    assert (resource["position"], resource["document"], resource["knowledge"]) == (1, "guide.md", "docs")
    assert resource["score"] > 0
    assert str(folder) not in str(resource)


async def test_the_menu_says_what_is_in_it_and_asks_for_a_query(folder: Path) -> None:
    await added(file_of(folder), folder / "guide.md", folder / "zh.md")
    async with loaded(folder, "knowledge:docs") as engine:
        [tool] = engine.menu()
    assert tool.name == "search_docs"
    assert tool.description.startswith("Searches the knowledge base 'docs'. Its documents: guide.md, zh.md. ")
    assert tool.parameters["required"] == ["query"]
    assert list(tool.parameters["properties"]) == ["query"]
    async with loaded(folder, "knowledge:docs", description="All about the harbour.") as engine:
        assert "'docs'. All about the harbour. Gives" in engine.menu()[0].description


async def test_there_is_one_tool_for_each_base(folder: Path) -> None:
    await added(file_of(folder), folder / "guide.md")
    await added(file_of(folder, "zh"), folder / "zh.md")
    async with loaded(folder, "knowledge:docs", "knowledge:zh", results=1) as engine:
        assert engine.names == ["search_docs", "search_zh"]
        assert "潮水" in (await call(engine, "search_zh", {"query": "潮水"})).text
        assert (await call(engine, "search_docs", {"query": "harbour"})).text.count("[") == 1


async def test_nothing_found_is_no_fault_and_an_empty_query_is_one(folder: Path) -> None:
    await added(file_of(folder), folder / "guide.md")
    async with loaded(folder, "knowledge:docs") as engine:
        nothing = await call(engine, "search_docs", {"query": "walrus"})
        empty = await call(engine, "search_docs", {"query": "  "})
        missing = await call(engine, "search_docs", {})
        odd = await call(engine, "search_docs", {"query": 'fee" OR NEAR( \ud800'})
    assert not nothing.result.is_error
    assert nothing.text == "nothing in the knowledge base 'docs' fits the query; other words may find something"
    assert nothing.kinds == [MessageType.TEXT]
    assert empty.result.is_error
    assert "query is empty; expected a question, or words to look for" in empty.text
    assert missing.result.is_error
    assert "[1] guide.md" in odd.text


async def test_many_searches_at_once_are_all_answered(folder: Path) -> None:
    await added(file_of(folder), folder / "guide.md")
    async with loaded(folder, "knowledge:docs") as engine:
        answers = await asyncio.gather(*(call(engine, "search_docs", {"query": "mooring fee"}) for _ in range(20)))
    assert len({answer.text for answer in answers}) == 1


async def test_an_unknown_base_is_told_with_near_matches(folder: Path) -> None:
    none = await refusal(folder, "knowledge:docs")
    assert none.message == (
        "there is no knowledge base 'docs'. There is none yet. Make it with: enfilade knowledge add docs PATH"
    )
    await added(file_of(folder), folder / "guide.md")
    near = await refusal(folder, "knowledge:dosc")
    assert near.message == "there is no knowledge base 'dosc'. Did you mean 'docs'?"
    assert near.code == "tool_not_found"
    assert (
        "cannot be named '../docs'; expected up to 48 letters" in (await refusal(folder, "knowledge:../docs")).message
    )
    assert "knowledge:NAME" in (await refusal(folder, "knowledge")).message


async def test_a_base_may_be_anywhere(folder: Path) -> None:
    await added(folder / "kept" / "here.db", folder / "guide.md")
    async with loaded(folder, "knowledge:docs", file="kept/here.db") as engine:
        assert "14 pounds" in (await call(engine, "search_docs", {"query": "fee"})).text


async def test_a_host_sees_what_is_added_while_it_lives(folder: Path) -> None:
    await added(file_of(folder), folder / "guide.md")
    async with loaded(folder, "knowledge:docs") as engine:
        assert not engine.outdated
        await added(file_of(folder), folder / "zh.md")
        assert "潮水" in (await call(engine, "search_docs", {"query": "潮水"})).text
        assert engine.outdated  # so that the next run is told of the new document


async def test_the_agent_decides_and_the_outcome_has_the_sources(folder: Path) -> None:
    await added(file_of(folder), folder / "guide.md")
    agent = AgentConfig(model="demo", tools=(ToolEntry(tool="knowledge:docs"), ToolEntry(tool="calculator")))
    async with Host(Config()) as host:
        outcome = await host.ask(agent, "What is the mooring fee?")
        other = await host.ask(agent, "What is 12 * 7?")
    assert "The mooring fee is 14 pounds a night." in outcome.answer
    assert "Source: [1] guide.md, Harbour guide > Mooring" in outcome.answer
    assert [found["document"] for found in outcome.retriever_resources] == ["guide.md"]
    assert "12 * 7 = 84." in other.answer
    assert other.retriever_resources == []


class Notes:
    """A retriever of somebody's own."""

    async def retrieve(self, query: str, limit: int) -> Sequence[Passage]:
        return [Passage("n1", f"{query}: the north pier", "notes", 0.5)][:limit]

    async def aclose(self) -> None:
        pass


async def test_any_retriever_can_stand_behind_the_tool() -> None:
    async with engine_of(KnowledgeTool("notes", "Knows the notes.", Notes())) as engine:
        called = await call(engine, "search_notes", {"query": "where to moor"})
    assert called.text == "[1] notes\nwhere to moor: the north pier"


async def test_a_knowledge_tool_of_a_file_is_named_as_any_tool(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from tests.knowledge.test_tool import Notes\n"
        "from enfilade.tools.knowledge.tool import KnowledgeTool\n"
        'notes = KnowledgeTool("notes", "Knows the notes.", Notes())\n'
    )
    async with engine_of("mine.py:notes", folder=folder) as engine:
        assert "the north pier" in (await call(engine, "search_notes", {"query": "moor"})).text
