"""Where a model is, and with which key and headers it is asked."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from enfilade.models.failures import Failures
from enfilade.models.settings import ModelSettings

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
        return f"Address({self.base_url!r})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in any text."""
        return tuple(value for value in (self.api_key, *dict(self.headers).values()) if value != _PLACEHOLDER)


def address_of(model: ModelSettings, environ: Mapping[str, str] = os.environ) -> Address:
    """Reads key and headers of a model from the environment.

    Raises:
        ModelFailedError: A variable that the settings name is not set, or OpenAI's own endpoint has no key.
    """
    base_url = model.base_url or environ.get("OPENAI_BASE_URL") or None
    failures = Failures(model, base_url=base_url or "")
    names = {header: name for header, name in model.headers_env.items() if not environ.get(name)}
    if names:
        header, name = next(iter(names.items()))
        raise failures.failed(
            f"the environment variable {name}, which should hold the header {header!r}, is not set",
            kind="configuration",
        )
    headers = tuple((header, environ[name]) for header, name in model.headers_env.items())
    return Address(base_url, _key(model, base_url, environ, failures), headers, model.timeout, model.max_retries)


def _key(model: ModelSettings, base_url: str | None, environ: Mapping[str, str], failures: Failures) -> str:
    name = model.api_key_env
    if name is None:
        is_openai = base_url is None or urlsplit(base_url).hostname == _OPENAI_HOST
        if not is_openai:
            return _PLACEHOLDER
        name = "OPENAI_API_KEY"
    key = environ.get(name, "").strip()
    if not key:
        raise failures.failed(
            f"the environment variable {name}, which should hold the API key, is not set: set it, or name another one "
            "with api_key_env",
            kind="configuration",
        )
    if not key.isascii() or not key.isprintable():
        raise failures.failed(f"the API key in {name} holds characters that no key has", kind="configuration")
    return key


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
