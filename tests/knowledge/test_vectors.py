"""Vectors: made by an endpoint, kept in the base, compared; together with words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from enfilade.tools.knowledge import embedding
from enfilade.tools.knowledge.failure import KnowledgeError, Reason
from enfilade.tools.knowledge.retrievers import retriever_of
from enfilade.tools.knowledge.settings import EmbeddingSettings, KnowledgeSettings
from enfilade.tools.knowledge.vectors import VectorRetriever
from tests.knowledge.bases import added, content, found, opened
from tests.knowledge.embedding_server import EmbeddingServer, embedding_server

TEXT = "The mooring fee is 14 pounds.\n\nHigh water is at noon.\n\nDogs may come along.\n"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as made:
        yield made


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_PAUSE", 0.0)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for number, text in enumerate(TEXT.split("\n\n")):
        (tmp_path / f"{number}.txt").write_text(text)
    return tmp_path / "docs.db"


def at(server: EmbeddingServer, retriever: str | None = None, **more: Any) -> KnowledgeSettings:
    endpoint = {"model": "near", "base_url": server.base_url, **more}
    return KnowledgeSettings.model_validate({"retriever": retriever, "embedding": endpoint})


async def test_what_is_near_in_meaning_is_found_without_a_common_word(base: Path, server: EmbeddingServer) -> None:
    settings = at(server, "vectors")
    await added(base, base.parent, settings=settings)
    passages = await found(base, "What does it cost, in money?", settings=settings)
    assert passages[0].document.endswith("/0.txt")
    assert len(passages) == 3
    assert 0.99 < passages[0].score <= 1.0001
    assert [p.score for p in passages] == sorted((p.score for p in passages), reverse=True)
    assert (await found(base, "any pet or beast?", 1, settings))[0].text == "Dogs may come along."
    assert await found(base, "  ", settings=settings) == []


async def test_hybrid_is_the_way_where_there_is_an_endpoint(base: Path, server: EmbeddingServer) -> None:
    settings = at(server)
    assert settings.way == "hybrid"
    await added(base, base.parent, settings=settings)
    assert (await found(base, "mooring money", settings=settings))[0].text == "The mooring fee is 14 pounds."
    assert (await found(base, "price", settings=settings))[0].text == "The mooring fee is 14 pounds."


async def test_an_endpoint_that_is_down_leaves_the_words(
    base: Path, server: EmbeddingServer, caplog: pytest.LogCaptureFixture
) -> None:
    await added(base, base.parent, settings=at(server))
    server.failures = [500] * 3
    assert [passage.text for passage in await found(base, "mooring", settings=at(server))] == [
        "The mooring fee is 14 pounds."
    ]
    assert "a search goes on without one of its ways: the embedding endpoint" in caplog.text


async def test_vectors_are_made_once_and_in_batches(base: Path, server: EmbeddingServer) -> None:
    (base.parent / "0.txt").write_text("\n\n".join(f"{number} {'x' * 250}" for number in range(7)))
    settings = KnowledgeSettings(part_characters=300, embedding=at(server, batch=3).embedding)
    await added(base, base.parent / "0.txt", settings=settings)
    assert [len(body["input"]) for body, _ in server.requests] == [3, 3, 1]
    await added(base, base.parent / "0.txt", settings=settings)
    assert len(server.requests) == 3


async def test_vectors_of_another_model_are_told_and_made_anew(base: Path, server: EmbeddingServer) -> None:
    await added(base, base.parent)
    with pytest.raises(KnowledgeError) as caught:
        await found(base, "fee", settings=at(server, "vectors"))
    assert caught.value.reason is Reason.EMBEDDING
    assert caught.value.message.endswith(
        "has documents whose vectors were made by another model (none); add its documents again, so that near makes "
        "all of them"
    )
    assert len((await added(base, base.parent, settings=at(server, "vectors"))).replaced) == 3
    assert len(await found(base, "fee", settings=at(server, "vectors"))) == 3
    with pytest.raises(KnowledgeError, match=r"another model \(near\); add .* so that near/4 makes"):
        await found(base, "fee", settings=at(server, "vectors", dimensions=4))


async def test_what_is_added_meanwhile_is_found(base: Path, server: EmbeddingServer) -> None:
    settings = at(server, "vectors")
    await added(base, base.parent, settings=settings)
    retriever = retriever_of(opened(base), settings)
    assert isinstance(retriever, VectorRetriever)
    assert len(await retriever.retrieve("walrus", 9)) == 3
    (base.parent / "new.txt").write_text("A walrus, a beast.")
    await added(base, base.parent / "new.txt", settings=settings)
    assert {passage.document for passage in await retriever.retrieve("walrus", 9)} >= {"new.txt"}
    await retriever.aclose()


async def test_documents_that_are_taken_out_take_their_vectors_along(base: Path, server: EmbeddingServer) -> None:
    await added(base, base.parent, settings=at(server))
    for number in range(3):
        (base.parent / f"{number}.txt").unlink()
    (base.parent / "left.txt").write_text("left")
    await added(base, base.parent / "left.txt", settings=at(server), prune=[base.parent])
    [document, part, vector, words] = content(base)
    assert vector[0] == part[0] == words[0]
    assert document[2] == "left.txt"


async def test_key_headers_and_dimensions_are_sent(
    base: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "key-1234567")
    monkeypatch.setenv("MY_TENANT", "tenant-1")
    settings = at(server, dimensions=4, api_key_env="MY_KEY", headers_env={"X-Tenant": "MY_TENANT"})
    await added(base, base.parent, settings=settings)
    body, headers = server.requests[0]
    assert (body["model"], body["dimensions"], body["encoding_format"]) == ("near", 4, "float")
    assert (headers["authorization"], headers["x-tenant"]) == ("Bearer key-1234567", "tenant-1")


async def test_a_refusal_is_told_without_the_key_and_nothing_is_added(
    base: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "key-1234567")
    server.failures = [401]
    with pytest.raises(KnowledgeError) as caught:
        await added(base, base.parent, settings=at(server, api_key_env="MY_KEY"))
    assert caught.value.message == (
        f"the embedding endpoint {server.base_url} (model near): HTTP 401: no, says Bearer ***"
    )
    assert caught.value.reason is Reason.EMBEDDING
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(KnowledgeError, match=r"the environment variable MY_KEY, .* is not set"):
        await added(base, base.parent, settings=at(server, api_key_env="MY_KEY"))


async def test_an_endpoint_that_is_busy_is_asked_again(base: Path, server: EmbeddingServer) -> None:
    server.failures = [503, 429]
    assert (await added(base, base.parent / "0.txt", settings=at(server))).added == ["0.txt"]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "body",
    [
        b"<html>hello</html>",
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
        b'{"data": [{"index": 1, "embedding": [1]}]}',
        b'{"data": 7}',
    ],
)
async def test_an_answer_of_another_form_is_told(base: Path, server: EmbeddingServer, body: bytes) -> None:
    server.body = body
    with pytest.raises(KnowledgeError, match="its answer has not the form of /v1/embeddings"):
        await added(base, base.parent / "0.txt", settings=at(server))


async def test_an_answer_without_end_is_not_read(
    base: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MOST_BYTES", 1000)
    server.body = b" " * 100_000
    with pytest.raises(KnowledgeError, match="its answer has more than 1,000 bytes; make batch smaller"):
        await added(base, base.parent / "0.txt", settings=at(server))


async def test_vectors_of_another_length_are_told(base: Path, server: EmbeddingServer) -> None:
    await added(base, base.parent, settings=at(server))
    server.body = b'{"data": [{"index": 0, "embedding": [1, 2]}]}'
    with pytest.raises(KnowledgeError, match="has vectors of 4 numbers, not of 2; add its documents again"):
        await found(base, "fee", settings=at(server, "vectors"))


async def test_an_endpoint_that_is_not_there_is_told(base: Path) -> None:
    with embedding_server() as server:
        settings = at(server)
    with pytest.raises(KnowledgeError, match=r"could not be reached: ConnectError.* is it up, and its address right"):
        await added(base, base.parent / "0.txt", settings=settings)


def test_settings_that_do_not_fit_together_are_told() -> None:
    with pytest.raises(ValidationError, match="retriever = 'vectors' needs an endpoint that makes vectors"):
        KnowledgeSettings(retriever="vectors")
    with pytest.raises(ValidationError, match="must start with http:// or https:// and name a host"):
        EmbeddingSettings(model="m", base_url="ftp://x")
    assert EmbeddingSettings(model="m", base_url="http://x/v1/embeddings/").base_url == "http://x/v1"


async def test_numpy_that_is_not_installed_is_told(
    base: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await added(base, base.parent, settings=at(server))
    monkeypatch.setattr("enfilade.tools.knowledge.vectors.find_spec", lambda _name: None)
    with pytest.raises(KnowledgeError, match=r"searching by vectors needs: pip install 'enfilade\[embeddings\]'"):
        await found(base, "fee", settings=at(server))
