"""Keeps secrets out of the records."""

from collections.abc import Mapping, Sequence
from typing import Any

from enfilade_sdk.parameters import AgentStrategyParameter, ParameterType

MASK = "********"
"""What stands in a secret's place; it says nothing of its length."""

SHORTEST = 4
"""Secrets of fewer characters are masked as parameters only: in texts they would hit half the words."""


def masked_params(params: Mapping[str, Any], declared: Sequence[AgentStrategyParameter]) -> dict[str, Any]:
    """The parameters with those of type `secret-input` masked; empty ones stay empty."""
    secret = _secret_names(declared)
    return {name: MASK if name in secret and value else value for name, value in params.items()}


def secrets_of(params: Mapping[str, Any], declared: Sequence[AgentStrategyParameter]) -> tuple[str, ...]:
    """The secrets among the parameters, for a `Masking`."""
    secret = _secret_names(declared)
    return tuple(value for name, value in params.items() if name in secret and isinstance(value, str) and value)


class Masking:
    """Puts `MASK` in the place of known secrets, wherever they stand.

    Args:
        secrets: The secrets; the longest are looked for first.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._secrets = sorted({secret for secret in secrets if len(secret) >= SHORTEST}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without the secrets."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value without the secrets, in keys too. One that is nested without end is masked as a whole."""
        if not self._secrets:
            return value
        try:
            return self._masked(value)
        except RecursionError:
            return MASK

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self._masked(key): self._masked(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._masked(item) for item in value]
        return value

    def __repr__(self) -> str:
        return f"Masking({len(self._secrets)} secrets)"


def _secret_names(declared: Sequence[AgentStrategyParameter]) -> set[str]:
    return {parameter.name for parameter in declared if parameter.type is ParameterType.SECRET_INPUT}
