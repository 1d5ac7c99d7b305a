"""Addresses that hold secrets are shown without them, and what they hold is masked where it comes back."""

import base64

import pytest

from enfilade.secrecy.address import secrets_in, shown_address


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        ("https://h/v1?api-version=2026-01-01", "https://h/v1?api-version=2026-01-01"),
        ("https://ada:hush@h:8/v1", "https://***@h:8/v1"),
        ("https://ada:hu@sh@h/v1", "https://***@h/v1"),
        ("https://hush@h/v1", "https://***@h/v1"),
        ("https://h/v1?api-version=1&key=hush#part", "https://h/v1?api-version=1&key=***#part"),
        ("https://h/v1?X-Api-Key=hush&access_token=hush", "https://h/v1?X-Api-Key=***&access_token=***"),
        ("https://h/who@there", "https://h/who@there"),
        ("charts/pets.yaml", "charts/pets.yaml"),
    ],
)
def test_an_address_is_shown_without_what_it_keeps_secret(address: str, shown: str) -> None:
    assert shown_address(address) == shown


def test_a_secret_is_known_in_each_form_in_which_it_may_come_back() -> None:
    basic = base64.b64encode(b"ada:hu/sh").decode()
    assert secrets_in("https://ada:hu%2Fsh@h/v1?key=a%20b%20c&n=1") == ("hu%2Fsh", "hu/sh", basic, "a%20b%20c", "a b c")
    assert secrets_in("https://h/v1?key=abc&page=12345") == ()
