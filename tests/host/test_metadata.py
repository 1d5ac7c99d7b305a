from pathlib import Path

import pytest
from importlib_metadata import PathDistribution

from enfilade.metadata import headers, version_of


def written(folder: Path, file: str, text: str) -> PathDistribution:
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(text, encoding="utf-8")
    return PathDistribution(folder)


@pytest.mark.parametrize("file", ["METADATA", "PKG-INFO"])
def test_the_headers_of_wheels_and_eggs_are_read(tmp_path: Path, file: str) -> None:
    found = written(tmp_path / "x.dist-info", file, "Name: Grüße\nVersion: 1.0\n\nName: not this\n")
    assert (headers(found)["Name"], version_of(found)) == ("Grüße", "1.0")


def test_a_distribution_without_metadata_has_no_headers(tmp_path: Path) -> None:
    found = PathDistribution(tmp_path / "x.dist-info")
    assert (headers(found).keys(), version_of(found)) == ([], "")


def test_what_is_not_utf8_is_replaced_and_hides_nothing_else(tmp_path: Path) -> None:
    found = written(tmp_path / "x.dist-info", "METADATA", "")
    (tmp_path / "x.dist-info" / "METADATA").write_bytes(b"Name: x\nSummary: caf\xe9\nVersion: 1.0\n\n\xff")
    assert (headers(found)["Summary"], version_of(found)) == ("caf\ufffd", "1.0")
