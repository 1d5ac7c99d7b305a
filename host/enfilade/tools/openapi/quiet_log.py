"""Keeps keys that stand in addresses out of the log of the HTTP client, which writes each address down."""

import logging
from collections.abc import Collection

from enfilade.tools.fault import masked

_LOGGER = "httpx2"


class QuietLog(logging.Filter):
    """Masks secrets in what the client logs, from `open` to `close`.

    Args:
        secrets: Texts that no log may show.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        super().__init__()
        self._secrets = frozenset(secrets)

    def open(self) -> None:
        """Begins to mask."""
        logging.getLogger(_LOGGER).addFilter(self)

    def close(self) -> None:
        """Masks no more."""
        logging.getLogger(_LOGGER).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Masks a record; none is left out."""
        if isinstance(record.args, tuple) and record.args:
            record.args = tuple(self._shown(value) for value in record.args)
        return True

    def _shown(self, value: object) -> object:
        text = str(value)
        return masked(text, self._secrets) if any(secret in text for secret in self._secrets) else value
