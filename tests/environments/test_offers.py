from pathlib import Path

import pytest

from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.offers import read_offers


def installed(venv: Path, name: str, metadata: bytes, entry_points: bytes) -> None:
    """What an installer that looks at nothing would leave."""
    folder = venv / "lib" / "python3.11" / "site-packages" / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_bytes(metadata)
    (folder / "entry_points.txt").write_bytes(entry_points)


ENTRY = b"[enfilade.strategies]\nplug = plug.strategy:Strategy\n"


def test_metadata_that_is_not_utf8_does_not_hide_a_plugin(tmp_path: Path) -> None:
    installed(tmp_path, "plug", b"Name: Plug\nVersion: 1.0\nSummary: caf\xe9\n", ENTRY)
    installed(tmp_path, "other", b"Name: \xff\n", b"")
    offered = read_offers(tmp_path, "plug")
    assert (offered.name, offered.version, [offer.name for offer in offered.offers]) == ("Plug", "1.0", ["plug"])


@pytest.mark.parametrize(
    ("entry_points", "told"),
    [
        (ENTRY + b"plug = plug.other:Strategy\n", "plug has several entry points named plug"),
        (ENTRY + b"\xff = plug.other:Strategy\n", "plug 1.0 is no plugin: expected an entry point"),
    ],
)
def test_entry_points_that_cannot_be_told_apart_or_read_are_refused(
    tmp_path: Path, entry_points: bytes, told: str
) -> None:
    installed(tmp_path, "plug", b"Name: plug\nVersion: 1.0\n", entry_points)
    with pytest.raises(InstallError, match=told) as caught:
        read_offers(tmp_path, "plug")
    assert caught.value.reason is Reason.NOT_A_PLUGIN
