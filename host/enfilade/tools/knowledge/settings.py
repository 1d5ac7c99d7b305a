"""One knowledge base of the configuration."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from enfilade.secrecy.address import secrets_in
from enfilade.secrecy.variable import VariableName
from enfilade.tools.knowledge.failure import KnowledgeError, Reason

MIB = 1024 * 1024

Way = Literal["words", "vectors", "hybrid"]
"""How parts are found: by their words, by the nearness of their meaning, or by both."""


class EmbeddingSettings(BaseModel):
    """The endpoint that turns texts into vectors (`[knowledge.NAME.embedding]`).

    Attributes:
        model: What the endpoint calls the model.
        base_url: The OpenAI-compatible endpoint, up to and without `/embeddings`.
        api_key_env: The environment variable that holds the key; empty sends none.
        headers_env: Further headers: header name to the variable that holds its value.
        dimensions: How long the vectors are to be, for models that can shorten them; None leaves it to the model.
        batch: How many texts one request carries.
        timeout: Seconds one request may take.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    base_url: str
    api_key_env: VariableName = ""
    headers_env: dict[str, VariableName] = Field(default_factory=dict)
    dimensions: int | None = Field(default=None, gt=0)
    batch: int = Field(default=64, gt=0, le=2048)
    timeout: float = Field(default=60.0, gt=0)

    @field_validator("base_url")
    @classmethod
    def _http(cls, value: str) -> str:
        if not re.match(r"https?://[^/]", value):
            raise ValueError(f"must start with http:// or https:// and name a host, got {value!r}")
        return value.rstrip("/").removesuffix("/embeddings")

    @property
    def mark(self) -> str:
        """What two vectors must have in common to be compared."""
        return self.model if self.dimensions is None else f"{self.model}/{self.dimensions}"

    def headers(self, host: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The headers to send, the key's among them.

        Raises:
            KnowledgeError: A variable that is to hold one is not set.
        """
        found = {name: _value(variable, host) for name, variable in self.headers_env.items()}
        if self.api_key_env:
            found["Authorization"] = f"Bearer {_value(self.api_key_env, host)}"
        return found

    def secrets(self, host: Mapping[str, str] = os.environ) -> frozenset[str]:
        """What no text may show."""
        names = {self.api_key_env, *self.headers_env.values()}
        given = (value for name in names if (value := host.get(name, "").strip()))
        return frozenset([*given, *secrets_in(self.base_url)])


class KnowledgeSettings(BaseModel):
    """One knowledge base (`[knowledge.NAME]`).

    Attributes:
        description: What is in it, in words for the model, instead of those given with `--description`.
        file: Where it is kept; by default in the user's data folder.
        retriever: How parts are found: `words` (BM25), `vectors`, or `hybrid`; by default `hybrid` where there is an
            `embedding`, else `words`.
        results: How many parts an answer has at most.
        part_characters: How long a part of a document may be.
        file_bytes: How large a document may be.
        timeout: Seconds one search may take; None leaves that to `tool_limits`.
        embedding: The endpoint that makes vectors.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = ""
    file: Path | None = None
    retriever: Way | None = None
    results: int = Field(default=5, gt=0, le=50)
    part_characters: int = Field(default=1200, ge=200, le=8000)
    file_bytes: int = Field(default=64 * MIB, gt=0)
    timeout: float | None = Field(default=None, gt=0)
    embedding: EmbeddingSettings | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.retriever in ("vectors", "hybrid") and self.embedding is None:
            raise ValueError(f"retriever = {self.retriever!r} needs an endpoint that makes vectors: set embedding")
        return self

    @property
    def way(self) -> Way:
        """How parts are found."""
        return self.retriever or ("words" if self.embedding is None else "hybrid")


def _value(variable: str, host: Mapping[str, str]) -> str:
    value = host.get(variable, "").strip()
    if not value or not value.isprintable():
        fault = "is not set" if not value else "holds characters that no key has"
        raise KnowledgeError(
            f"the environment variable {variable}, which should hold the embedding endpoint's credentials, {fault}",
            Reason.EMBEDDING,
        )
    return value
