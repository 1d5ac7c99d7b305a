"""The one line that a plugin prints: whatever it is, it is read or refused with what was read."""

import contextlib
import signal
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.errors import LaunchError
from enfilade.isolation.environment import guest_environment
from enfilade.isolation.exit_code import in_words
from enfilade.isolation.handshake import read_handshake
from enfilade_sdk.serving.handshake import GRPC


@given(
    st.one_of(
        st.binary(max_size=200),
        st.lists(st.text(), min_size=5, max_size=9).map(lambda f: "|".join(f).encode("utf-8", "surrogatepass")),
    )
)
def test_no_line_breaks_the_reader(line: bytes) -> None:
    with contextlib.suppress(LaunchError):
        read_handshake(line + b"\n", (1,), "/nonexistent")


@pytest.mark.parametrize("more", ["", "|", "|certificate", "||true", "|\r"])
def test_fields_after_the_fifth_mean_nothing(more: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{tmp_path}/s")
        line = f"1|1|unix|{tmp_path}/s|grpc{more}\n".encode()
        handshake = read_handshake(line, (1, 2), str(tmp_path))
        assert (handshake.protocol, handshake.transport) == (1, GRPC)
        handshake.socket.close()


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "relative", "{folder}/../s", "{folder}/sub/s", "", "{folder}/\0", "{folder}/a,b"]
)
def test_a_path_elsewhere_is_refused(path: str, tmp_path: Path) -> None:
    line = f"1|1|unix|{path.format(folder=tmp_path)}|grpc|\n".encode()
    with pytest.raises(LaunchError):
        read_handshake(line, (1,), str(tmp_path))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (3, "exit code 3"),
        (-9, "signal 9 (SIGKILL: killed, perhaps for want of memory)"),
        (-signal.SIGHUP, "signal 1 (SIGHUP)"),
        (-200, "signal 200"),
        (None, "still running"),
    ],
)
def test_an_exit_code_is_told_in_words(code: int | None, words: str) -> None:
    assert in_words(code) == words


def test_a_guest_inherits_no_variable_but_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    environment = guest_environment("/private", {"GIVEN": "by the operator", "HOME": "/other"})
    assert set(environment) <= {
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "GIVEN",
        "ENFILADE_GUEST",
    }
    assert (environment["TZ"], environment["HOME"], environment["TMPDIR"]) == ("Europe/Berlin", "/other", "/private")
