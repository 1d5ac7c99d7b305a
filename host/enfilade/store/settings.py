"""How the store is set up (`[store]` of the configuration)."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from enfilade.settings.data_folder import data_folder

MIB = 1024 * 1024

SCHEMES = ("sqlite:///", "postgresql+asyncpg://", "postgresql://")
"""What an address may begin with."""


class StoreSettings(BaseModel):
    """Where records go, and how.

    Attributes:
        url: `sqlite:///FILE` (`sqlite:////abs/olute`), or `postgresql+asyncpg://USER:PASSWORD@HOST/DATABASE`. Empty is
            `records.db` in the data folder. It may hold a password, so it is not shown in the settings' repr.
        on_failure: What happens to a run whose records cannot be written now: `buffer` lets it go on and writes them
            later (when `buffer_bytes` or `buffer_records` wait, it fails after all); `fail` lets it fail.
        interval: Seconds after which what happened is in the store.
        buffer_records: How many records may wait; then a run waits for the store.
        buffer_bytes: How many bytes of records may wait.
        file_bytes: The content of files up to this size is kept; of larger ones only name, size and digest.
        beat: Seconds between two signs of life of a host.
        dead_after: Seconds without a sign of life after which a host of another machine is taken for dead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str = Field(default="", repr=False)
    on_failure: Literal["buffer", "fail"] = "buffer"
    interval: float = Field(default=0.05, gt=0, le=60)
    buffer_records: int = Field(default=10_000, ge=10)
    buffer_bytes: int = Field(default=64 * MIB, ge=MIB)
    file_bytes: int = Field(default=8 * MIB, ge=0)
    beat: float = Field(default=10.0, gt=0)
    dead_after: float = Field(default=60.0, gt=0)

    @field_validator("url")
    @classmethod
    def _known_scheme(cls, value: str) -> str:
        if value and not value.startswith(SCHEMES):
            scheme = value.partition(":")[0]
            raise ValueError(f"must begin with {', '.join(SCHEMES[:2])}, got the scheme {scheme!r}")
        if value.startswith("sqlite:") and value.removeprefix("sqlite:///") in ("", ":memory:"):
            raise ValueError("records in memory are gone with the process; name a file, as in sqlite:///records.db")
        return value

    @property
    def file(self) -> Path | None:
        """The SQLite file; None for a server."""
        if not self.url:
            return default_file()
        if self.url.startswith("sqlite:///"):
            return Path(self.url.removeprefix("sqlite:///")).expanduser()
        return None


def default_file() -> Path:
    """`records.db` in the data folder."""
    return data_folder() / "records.db"
