"""Where a model is, and with which key and headers it is asked."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from enfilade.models.failures import Failures
from enfilade.models.settings import ModelSettings
from enfilade.secrecy.address import secrets_in, shown_address
from enfilade_sdk.errors import ModelFailedError

_PLACEHOLDER = "no-key"
_OPENAI_HOST = "api.openai.com"


@dataclass(frozen=True, slots=True)
class Address:
    """How an endpoint is reached; models with equal addresses share a client. Holds secrets: never print it."""

    base_url: str | None
    api_key: str
    headers: tuple[tuple[str, str], ...]
    timeout: float
    max_retries: int

    def __repr__(self) -> str:
        return f"Address({shown_address(self.base_url or '')!r})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in any text."""
        given = tuple(value for value in (self.api_key, *dict(self.headers).values()) if value != _PLACEHOLDER)
        return given + secrets_in(self.base_url or "")


def address_of(model: ModelSettings, environ: Mapping[str, str] = os.environ) -> Address:
    """Reads key and headers of a model from the environment.

    Raises:
        ModelFailedError: A variable that the settings name is not set, or OpenAI's own endpoint has no key.
    """
    base_url = model.base_url or environ.get("OPENAI_BASE_URL") or None
    headers = tuple((header, _header(model, header, base_url, environ)) for header in model.headers_env)
    return Address(base_url, _key(model, base_url, environ), headers, model.timeout, model.max_retries)


def _header(model: ModelSettings, header: str, base_url: str | None, environ: Mapping[str, str]) -> str:
    name = model.headers_env[header]
    value = environ.get(name)
    if not value:
        text = f"the environment variable {name}, which should hold the header {header!r}, is not set"
        raise _misconfigured(model, base_url, text)
    return value


def _key(model: ModelSettings, base_url: str | None, environ: Mapping[str, str]) -> str:
    name = model.api_key_env
    if name is None:
        if not _is_openai(base_url):
            return _PLACEHOLDER
        name = "OPENAI_API_KEY"
    key = environ.get(name, "").strip()
    if not key:
        text = (
            f"the environment variable {name}, which should hold the API key, is not set: set it, or name another one "
            "with api_key_env"
        )
        raise _misconfigured(model, base_url, text)
    if not key.isascii() or not key.isprintable():
        raise _misconfigured(model, base_url, f"the API key in {name} holds characters that no key has")
    return key


def _misconfigured(model: ModelSettings, base_url: str | None, text: str) -> ModelFailedError:
    return Failures(model, base_url=base_url or "").failed(text, kind="configuration")


@lru_cache
def _is_openai(base_url: str | None) -> bool:
    return base_url is None or urlsplit(base_url).hostname == _OPENAI_HOST
