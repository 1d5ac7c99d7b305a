"""One HTTP interface of the configuration that an OpenAPI document describes."""

import base64
import os
from collections.abc import Mapping
from typing import Self
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from enfilade.secrecy.variable import VariableName
from enfilade.tools.openapi.failure import DocumentError


class OpenApiSettings(BaseModel):
    """One interface (`[openapi.NAME]`).

    Attributes:
        document: The document: a file, or an address.
        operations: Which operations to offer, each an `operationId` or `METHOD /path`, with `*` for anything; none
            offers all.
        base_url: Where the interface is; by default what the document says.
        bearer_env: The environment variable that holds a bearer token.
        basic_env: The environment variable that holds `user:password` for basic authentication.
        headers_env: Further headers, such as API keys: header name to the variable that holds its value.
        query_env: Parameters of every address, such as API keys: name to the variable that holds its value.
        prefix: Put before the names of its tools.
        timeout: Seconds one call may take; None leaves that to `tool_limits`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    document: str = Field(min_length=1)
    operations: tuple[str, ...] = ()
    base_url: str = ""
    bearer_env: VariableName = ""
    basic_env: VariableName = ""
    headers_env: dict[str, VariableName] = Field(default_factory=dict)
    query_env: dict[str, VariableName] = Field(default_factory=dict)
    prefix: str = ""
    timeout: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.bearer_env and self.basic_env:
            raise ValueError("give bearer_env or basic_env, not both")
        if self.base_url and not is_http(self.base_url):
            raise ValueError(f"base_url must start with http:// or https:// and name a host, got {self.base_url!r}")
        return self

    def credentials(self, host: Mapping[str, str] = os.environ) -> "Credentials":
        """What the environment holds for it.

        Raises:
            DocumentError: A variable that is named is not set.
        """
        headers = {name: _value(variable, host) for name, variable in self.headers_env.items()}
        query = {name: _value(variable, host) for name, variable in self.query_env.items()}
        secrets = {*headers.values(), *query.values(), *(quote(value, safe="") for value in query.values())}
        if self.bearer_env:
            token = _value(self.bearer_env, host)
            headers["Authorization"] = f"Bearer {token}"
            secrets.add(token)
        if self.basic_env:
            pair = _value(self.basic_env, host)
            encoded = base64.b64encode(pair.encode()).decode()
            headers["Authorization"] = f"Basic {encoded}"
            secrets |= {pair, encoded, pair.partition(":")[2] or pair}
        return Credentials(headers, query, frozenset(secrets))


class Credentials:
    """What is sent with every request. Never printed.

    Args:
        headers: Headers.
        query: Parameters of the address.
        secrets: Texts that no error and no log may show.
    """

    def __init__(self, headers: Mapping[str, str], query: Mapping[str, str], secrets: frozenset[str]) -> None:
        self.headers = dict(headers)
        self.query = dict(query)
        self.secrets = secrets

    def __bool__(self) -> bool:
        return bool(self.headers or self.query)


def is_http(text: str) -> bool:
    """Whether a text is an address of HTTP with a host."""
    if not text.startswith(("http://", "https://")):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _value(variable: str, host: Mapping[str, str]) -> str:
    value = host.get(variable, "").strip()
    if not value:
        raise DocumentError(f"the environment variable {variable}, which should hold credentials, is not set")
    if not value.isprintable():
        raise DocumentError(f"the environment variable {variable} holds characters that no credentials have")
    return value
