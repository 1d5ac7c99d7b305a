"""The settings of the store."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from enfilade.store.settings import StoreSettings, default_file


@pytest.mark.parametrize("url", ["sqlite:///:memory:", "sqlite:///"])
def test_records_in_memory_are_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="records in memory are gone with the process; name a file"):
        StoreSettings(url=url)


@pytest.mark.parametrize("url", ["mysql://ada:hunter2@host/db", "records.db", "sqlite://records.db"])
def test_other_addresses_are_refused_without_showing_them(url: str) -> None:
    with pytest.raises(
        ValidationError, match=r"must begin with sqlite:///, postgresql\+asyncpg://, got the scheme"
    ) as caught:
        StoreSettings(url=url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///records.db", Path("records.db")),
        ("sqlite:////var/records.db", Path("/var/records.db")),
        ("sqlite:///~/records.db", Path.home() / "records.db"),
        ("postgresql+asyncpg://ada@host/records", None),
        ("postgresql://ada@host/records", None),
    ],
)
def test_an_address_names_a_file_or_a_server(url: str, file: Path | None) -> None:
    assert StoreSettings(url=url).file == file


def test_without_an_address_it_is_the_users_own_file() -> None:
    assert StoreSettings().file == default_file()


@pytest.mark.parametrize("change", [{"interval": 0}, {"buffer_records": 1}, {"on_failure": "ignore"}, {"beat": -1}])
def test_impossible_settings_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        StoreSettings.model_validate(change)
