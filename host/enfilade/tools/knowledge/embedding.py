"""Texts to vectors, by an OpenAI-compatible endpoint."""

import asyncio
import json
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from enfilade.secrecy.address import shown_address
from enfilade.tools.fault import masked
from enfilade.tools.knowledge.failure import KnowledgeError, Reason
from enfilade.tools.knowledge.settings import EmbeddingSettings
from enfilade.tools.web_client import body_of, web_client

if TYPE_CHECKING:
    import httpx2

_TRIES = 3
_PAUSE = 0.5
_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_MOST_WORDS = 300
_MOST_BYTES = 256 * 1024 * 1024


class Embedder:
    """Asks one endpoint. Connections are made when they are needed.

    Args:
        settings: The endpoint.
    """

    def __init__(self, settings: EmbeddingSettings) -> None:
        self.mark = settings.mark
        self._settings = settings
        self._client: httpx2.AsyncClient | None = None

    async def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """A vector of length one for each text: floats of 32 bits, little-endian on all machines that matter.

        Raises:
            KnowledgeError: The endpoint cannot be reached, refuses, or answers with something else.
        """
        found: list[bytes] = []
        for start in range(0, len(texts), self._settings.batch):
            batch = texts[start : start + self._settings.batch]
            found += self._read(await self._asked(batch), len(batch))
        return found

    async def aclose(self) -> None:
        """Closes the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _asked(self, texts: Sequence[str]) -> Any:
        body: dict[str, Any] = {"model": self._settings.model, "input": list(texts), "encoding_format": "float"}
        if self._settings.dimensions is not None:
            body["dimensions"] = self._settings.dimensions
        for attempt in range(_TRIES):
            status, answer = await self._post(body)
            if status == 200:  # noqa: PLR2004 - HTTP's word for success
                return answer
            if status not in _RETRYABLE or attempt == _TRIES - 1:
                raise self._failed(f"HTTP {status}: {_words(answer)}")
            await asyncio.sleep(_PAUSE * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    async def _post(self, body: dict[str, Any]) -> tuple[int, Any]:
        import httpx2

        settings = self._settings
        if self._client is None:
            self._client = await web_client(
                settings.base_url, headers=settings.headers(), read_seconds=settings.timeout
            )
        try:
            async with (
                asyncio.timeout(settings.timeout),
                self._client.stream("POST", f"{settings.base_url}/embeddings", json=body) as response,
            ):
                data = await self._content(response)
        except TimeoutError:
            raise self._failed(f"no answer within {settings.timeout:g} s") from None
        except httpx2.HTTPError as error:
            words = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise self._failed(f"it could not be reached: {words}; is it up, and its address right?") from None
        try:
            return response.status_code, json.loads(data)
        except (ValueError, RecursionError):
            return response.status_code, data.decode("utf-8", "replace")

    async def _content(self, response: "httpx2.Response") -> bytes:
        too_large = f"its answer has more than {_MOST_BYTES:,} bytes; make batch smaller"
        return await body_of(response, _MOST_BYTES, lambda: self._failed(too_large))

    def _read(self, answer: Any, count: int) -> list[bytes]:
        """The vectors of an answer, in the order of the texts."""
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(count)):
                raise ValueError(f"{len(items)} vectors for {count} texts")
            return [_packed(item["embedding"]) for item in items]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._failed(f"its answer has not the form of /v1/embeddings ({error})") from None

    def _failed(self, text: str) -> KnowledgeError:
        shown = masked(text, self._settings.secrets())
        return KnowledgeError(
            f"the embedding endpoint {shown_address(self._settings.base_url)} (model {self._settings.model}): {shown}",
            Reason.EMBEDDING,
        )


def _packed(vector: Sequence[float]) -> bytes:
    length = sum(value * value for value in vector) ** 0.5
    if not vector or not length < float("inf") or length == 0:
        raise ValueError("a vector without length")
    return array("f", (value / length for value in vector)).tobytes()


def _words(answer: Any) -> str:
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    words = error.get("message", error) if isinstance(error, dict) else error
    return " ".join(str(words).split())[:_MOST_WORDS]
