"""Strategies on trial: what a run can do, in both forms, for a host's own process and for a plugin's process alike.

What a strategy met while it was stopped stands in `EVENTS` of the process it ran in; `Recall` tells it and forgets it.
Their calls are in `trial_callers`, what they do when they are stopped or fail in `trial_endings`.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from enfilade_sdk.session import Session

EVENTS: list[str] = []

KINDS: list[dict[str, Any]] = [
    {"type": "text", "message": {"text": "größer \N{SNOWMAN} 😀"}, "meta": {"round": 1}},
    {"type": "link", "message": {"text": "https://localhost/a"}},
    {"type": "image", "message": {"text": "https://localhost/b.png"}},
    {"type": "image_link", "message": {"text": "https://localhost/c.png"}},
    {"type": "binary_link", "message": {"text": "https://localhost/d.bin"}},
    {"type": "blob", "message": {"blob": bytes(range(256))}, "meta": {"mime_type": "application/octet-stream"}},
    {"type": "blob_chunk", "message": {"id": "x", "sequence": 0, "total_length": 3, "blob": b"abc", "end": True}},
    {"type": "json", "message": {"json_object": {"deep": [1, 2.5, None, {"a": "b"}]}}},
    {"type": "variable", "message": {"variable_name": "answer", "variable_value": [42], "stream": False}},
    {"type": "file", "message": {}, "meta": {"file": {"url": "https://localhost/e.txt"}}},
    {"type": "log", "message": {"id": "1", "label": "step", "status": "start", "data": {"n": 1}}},
    {"type": "retriever_resources", "message": {"retriever_resources": [{"title": "t"}], "context": "c"}},
]


class Trial:
    """A strategy without parameters of its own: it is given whatever the test likes."""

    def get_parameters(self) -> list[Any]:
        return []


class Recall(Trial):
    async def invoke(self) -> AsyncIterator[str]:
        events = list(EVENTS)
        del EVENTS[: len(events)]  # a strategy's thread may note one more meanwhile
        for event in events:
            yield event


class Kinds(Trial):
    async def invoke(self) -> AsyncIterator[dict[str, Any]]:
        for message in KINDS:
            yield message


class KindsBlocking(Trial):
    def invoke(self) -> Iterator[dict[str, Any]]:
        yield from KINDS


class Flood(Trial):
    async def invoke(self, *, params: dict[str, Any]) -> AsyncIterator[str]:
        for number in range(params["n"]):
            EVENTS[:] = [str(number)]
            yield f"{number}{params.get('tail', '')}"


class FloodBlocking(Trial):
    def invoke(self, *, params: dict[str, Any]) -> Iterator[str]:
        for number in range(params["n"]):
            EVENTS[:] = [str(number)]
            yield f"{number}{params.get('tail', '')}"


class Given(Trial):
    """Tells everything it was given."""

    def invoke(self, **given: Any) -> Iterator[Any]:
        session: Session = given.pop("session")
        credentials = given.pop("credentials")
        yield {
            "type": "json",
            "message": {
                "json_object": {
                    **given,
                    "credentials": credentials and credentials.model_dump(),
                    "model": session.model.info.model_dump(),
                    "tools": [tool.model_dump() for tool in session.tools.list()],
                    "history": [message.model_dump() for message in session.history],
                    "files": [file.model_dump() for file in session.files],
                }
            },
        }


class Surrogates(Trial):
    def invoke(self, *, session: Session) -> Iterator[Any]:
        yield "a\ud83d b"
        yield {"type": "text", "message": {"text": "c"}, "meta": {"name": "\udcff"}}
        yield {"type": "json", "message": {"json_object": {"k\ud83d": ["\ude00"]}}}
        result = session.tools.invoke("echo", {"word": "\ud83d"}).result()
        yield result.text


class Large(Trial):
    async def invoke(self, *, params: dict[str, Any], session: Session) -> AsyncIterator[Any]:
        kind, size = params["kind"], params["size"]
        if kind == "text":
            yield "x" * size
        elif kind == "json":
            yield {"type": "json", "message": {"json_object": {"x": "y" * size}}}
        elif kind == "blob":
            yield {"type": "blob", "message": {"blob": bytes(size)}, "meta": {"filename": "f", "mime_type": "m"}}
        elif kind == "prompt":
            result = await session.model.invoke([{"role": "user", "content": "z" * size}])
            yield str(len(result.message.content or ""))
        elif kind == "arguments":
            yield (await session.tools.invoke("echo", {"word": "w" * size})).text
        elif kind == "question":
            yield str(len(params["query"]))


class LargeBlobs(Trial):
    """Many blobs without a pause, to see that they do not pile up."""

    def invoke(self, *, params: dict[str, Any]) -> Iterator[Any]:
        for number in range(params["n"]):
            EVENTS[:] = [str(number)]
            yield {"type": "blob", "message": {"blob": bytes(1_000_000)}, "meta": {"number": number}}


class Changing(Trial):
    """Changes what it has sent and what it was given."""

    def invoke(self, *, params: dict[str, Any]) -> Iterator[Any]:
        data = {"state": "sent"}
        yield {"type": "json", "message": {"json_object": data}}
        data["state"] = "changed"
        params["given"].append("changed")


class FewKeywords(Trial):
    def invoke(self, user_id: str) -> Iterator[str]:
        yield user_id


class Returned(Trial):
    """A plain function that returns an async iterator."""

    def invoke(self, *, session: Session) -> AsyncIterator[Any]:
        return Kinds().invoke()


class Listed(Trial):
    """A plain function that returns a list."""

    def invoke(self) -> list[str]:
        return ["a", "b"]


class NotIterable(Trial):
    def invoke(self) -> Any:
        return "just a text"
