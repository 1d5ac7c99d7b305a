"""The files of mutual TLS, on the host's side and on the plugin's."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from enfilade.candidate import Candidate
from enfilade.errors import ConfigError
from enfilade.isolation.launcher import Launcher
from tests.support.served_plugin import Certificates, refused


@dataclass(frozen=True)
class Files:
    """Which files are used, and what is said of them: `ca`, `certificate` and `key` stand for the options' names."""

    ca: str = "ca.pem"
    certificate: str = "host.pem"
    key: str = "host.key"
    says: str = ""


FAULTS = [
    Files(key="plugin.key", says="{key}: {folder}/plugin.key is not the key of the certificate in {folder}/host.pem"),
    Files(ca="host.key", says="{ca}: expected an authority's certificate, {folder}/host.key has none: "),
    Files(
        certificate="host.key",
        says="{certificate} and {key}: expected a certificate and its key, without a passphrase; ",
    ),
    Files(key="locked.key", says="{certificate} and {key}: expected a certificate and its key, without a passphrase; "),
    Files(key="cut.key", says="{certificate} and {key}: expected a certificate and its key, without a passphrase; "),
    Files(ca="word.pem", says="{ca}: expected PEM ('-----BEGIN ...'), {folder}/word.pem is something else"),
    Files(ca="none.pem", says="{ca}: cannot read {folder}/none.pem: No such file or directory"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Certificates, and files that are none."""
    made = Certificates(tmp_path / "certificates")
    folder = made.ca.parent
    key = made.host_key.read_bytes()
    locked = load_pem_private_key(key, None).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")
    )
    (folder / "locked.key").write_bytes(locked)
    (folder / "cut.key").write_bytes(key[: len(key) // 2])
    (folder / "word.pem").write_bytes(b"word")
    return folder


@pytest.mark.parametrize("files", FAULTS)
async def test_a_host_says_what_is_wrong_with_its_files(launcher: Launcher, folder: Path, files: Files) -> None:
    paths = {name: folder / getattr(files, name) for name in ("ca", "certificate", "key")}
    guest = launcher.guest(Candidate(plugin="far", address="grpcs://localhost:1", certificates=paths))
    with pytest.raises(ConfigError) as caught:
        await guest.describe()
    says = files.says.format(ca="ca", certificate="certificate", key="key", folder=folder)
    assert caught.value.message.startswith(f"plugin 'far': {says}")


@pytest.mark.parametrize("files", FAULTS)
async def test_a_plugin_says_what_is_wrong_with_its_files(folder: Path, files: Files) -> None:
    options = {"ca": files.ca, "cert": files.certificate, "key": files.key}
    words = [f"--{name}={folder / file}" for name, file in options.items()]
    says = files.says.format(ca="--ca", certificate="--cert", key="--key", folder=folder)
    assert (await refused("--listen=grpcs://127.0.0.1:0", *words, "a:B")).startswith(says)
