"""Plugins at an address: served by hand at a socket or a TLS port, reached by hosts with the right certificates."""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from enfilade.admission import Runner
from enfilade.candidate import Candidate
from enfilade.errors import ConfigError, LaunchError
from enfilade.isolation.launcher import Launcher
from enfilade_sdk.errors import GuestDiedError
from enfilade_sdk.serving.server import HEALTH_SERVING
from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1.strategy_pb2_grpc import StrategyPluginStub
from tests.support import trial_run
from tests.support.served_plugin import Certificates, refused, served
from tests.support.trial_hatch import Chunks, TrialHatch, hang, says
from tests.support.trial_run import begin, events, messages, part, texts

OFFERS = [f"{offer.name}={offer.target}" for offer in trial_run.OFFERS]


@asynccontextmanager
async def remote(launcher: Launcher, address: str, files: dict[str, Path] | None = None) -> AsyncIterator[Runner]:
    guest = launcher.guest(Candidate(plugin="far", address=address, certificates=files or {}, start_timeout=10))
    try:
        yield guest
    finally:
        await guest.stop()


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path / "certificates")


async def test_a_plugin_is_served_at_a_socket(launcher: Launcher, tmp_path: Path) -> None:
    path = tmp_path / "空 格.sock"
    async with served(f"--listen=unix:{path}", *OFFERS) as address:
        assert address == f"unix:{path}"
        assert stat.S_IMODE(os.lstat(path).st_mode) == 0o600
        async with remote(launcher, address) as guest:
            assert "Ask" in [described.name for described in await guest.describe()]
            assert len(await messages(guest, "Kinds")) == 12
            assert await texts(guest, "Ask", TrialHatch(Chunks(3))) == ["word "] * 3
            await part(guest, "TickBlocking", 3)
            assert await events(guest) == ["RunCancelled", "finally"]
        async with remote(launcher, address) as guest:  # its end was not the plugin's end
            assert await texts(guest, "UseTool", TrialHatch(tool=says("x", "message")), tool="tool") == ["message"]
    assert path.name not in os.listdir(tmp_path)  # noqa: PTH208 - names are enough


async def test_a_plugin_is_served_at_a_port_with_mutual_tls(launcher: Launcher, certificates: Certificates) -> None:
    async with served("--listen=grpcs://127.0.0.1:0", *certificates.arguments, *OFFERS) as address:
        assert address.startswith("grpcs://127.0.0.1:")
        assert not address.endswith(":0")
        async with remote(launcher, address, certificates.files) as guest:
            assert len(await messages(guest, "Kinds")) == 12
            assert await texts(guest, "Ask", TrialHatch(Chunks(5000))) == ["word "] * 5000


async def test_a_host_with_certificates_of_another_authority_is_told_so(
    launcher: Launcher, certificates: Certificates, tmp_path: Path
) -> None:
    other = Certificates(tmp_path / "other")
    async with served("--listen=grpcs://127.0.0.1:0", *certificates.arguments, *OFFERS) as address:
        for files in (other.files, {**certificates.files, "ca": other.ca}):
            async with remote(launcher, address, files) as guest:
                with pytest.raises(LaunchError) as caught:
                    await guest.describe()
                assert caught.value.message.startswith(
                    f"plugin 'far' at {address} cannot be asked what it offers: UNAV"
                )
                assert "CERTIFICATE_VERIFY_FAILED" in caught.value.message
        foreign = {**certificates.files, "certificate": other.host, "key": other.host_key}
        async with remote(launcher, address, foreign) as guest:
            with pytest.raises(LaunchError, match=r"cannot be asked what it offers: UNAVAILABLE"):
                await guest.describe()
        async with remote(launcher, address, certificates.files) as guest:  # none of this did any harm
            assert len(await messages(guest, "Kinds")) == 12


async def test_clients_without_a_certificate_are_not_let_in(certificates: Certificates) -> None:
    async with served("--listen=grpcs://127.0.0.1:0", *certificates.arguments, *OFFERS) as address:
        target = address.removeprefix("grpcs://")
        tls = grpc.ssl_channel_credentials(certificates.ca.read_bytes())
        for channel in (grpc.aio.insecure_channel(target), grpc.aio.secure_channel(target, tls)):
            async with channel:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await StrategyPluginStub(channel).Describe(pb.DescribeRequest(), timeout=10)
                assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_served_plugin_answers_health_checks_and_takes_no_shutdown(tmp_path: Path) -> None:
    async with served(f"--listen=unix:{tmp_path}/s", *OFFERS) as address, grpc.aio.insecure_channel(address) as channel:
        check: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
        assert await check(b"", timeout=10) == HEALTH_SERVING
        shutdown: Any = channel.unary_unary("/plugin.GRPCController/Shutdown")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await shutdown(b"", timeout=10)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_nobody_at_an_address_is_told_soon(
    launcher: Launcher, certificates: Certificates, tmp_path: Path
) -> None:
    for address in (f"unix:{tmp_path}/nobody.sock", "grpcs://127.0.0.1:1"):
        async with remote(launcher, address, certificates.files) as guest:
            with pytest.raises(LaunchError, match=r"plugin 'far' at .* cannot be asked what it offers: UNAVAILABLE"):
                await guest.describe()


async def test_a_plugin_started_later_is_found_then(launcher: Launcher, tmp_path: Path) -> None:
    async with remote(launcher, f"unix:{tmp_path}/s") as guest:
        with pytest.raises(LaunchError):
            await guest.describe()
        async with served(f"--listen=unix:{tmp_path}/s", *OFFERS):
            assert len(await messages(guest, "Kinds")) == 12


async def test_a_plugin_that_went_away_in_a_run_is_told_and_found_again(launcher: Launcher, tmp_path: Path) -> None:
    async with remote(launcher, f"unix:{tmp_path}/s") as guest:
        async with served(f"--listen=unix:{tmp_path}/s", *OFFERS):
            run = begin(guest, "Wait", TrialHatch(hang), where="model")
            await anext(run)
            waiting = asyncio.ensure_future(anext(run))
        with pytest.raises(GuestDiedError, match=r"the connection to plugin 'far' at unix:.* broke: "):
            await asyncio.wait_for(waiting, 10)
        async with served(f"--listen=unix:{tmp_path}/s", *OFFERS):
            assert len(await messages(guest, "Kinds")) == 12  # a run waits for no pause


async def test_a_plugin_at_an_address_that_ignores_its_cancel_is_left_alone(
    launcher: Launcher, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(f"--listen=unix:{tmp_path}/s", *OFFERS) as address, remote(launcher, address) as guest:
        await part(guest, "Deaf", 1, seconds=5.0)
        assert len(await messages(guest, "Kinds")) == 12
    assert "a cancelled run did not end within 1 s" in caplog.text


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"address": "http://localhost"}, "address: expected unix:PATH or grpcs://HOST:PORT, got 'http://localhost'"),
        ({"address": "unix:" + "x" * 200}, "address: a socket's path has 1 to 107 bytes, this one has 200"),
        ({"address": "unix:/tmp/a,b"}, "address: a socket's path cannot have a comma: /tmp/a,b"),
        ({"certificates": {}}, "a grpcs:// address needs the files ca, certificate and key (PEM); ca is not set"),
    ],
)
async def test_an_address_that_cannot_be_says_what_is_expected(
    launcher: Launcher, change: dict[str, object], text: str
) -> None:
    candidate = replace(Candidate(plugin="far", address="grpcs://localhost:1"), **change)  # type: ignore[arg-type]  # its fields
    with pytest.raises(ConfigError) as caught:
        await launcher.guest(candidate).describe()
    assert caught.value.message.startswith(f"plugin 'far': {text}")


async def test_a_file_that_is_no_certificate_is_named(
    launcher: Launcher, certificates: Certificates, tmp_path: Path
) -> None:
    (tmp_path / "no.pem").write_bytes(b"no certificate")
    for name, path, text in (
        ("key", tmp_path / "no.pem", f"key: expected PEM ('-----BEGIN ...'), {tmp_path}/no.pem is something else"),
        ("ca", tmp_path / "absent", f"ca: cannot read {tmp_path}/absent: No such file or directory"),
    ):
        async with remote(launcher, "grpcs://localhost:1", {**certificates.files, name: path}) as guest:
            with pytest.raises(ConfigError) as caught:
                await guest.describe()
            assert caught.value.message == f"plugin 'far': {text}"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--listen=http://x", "a:B"), "--listen: expected unix:PATH or grpcs://HOST:PORT, got 'http://x'"),
        (("--listen=grpcs://127.0.0.1:0", "a:B"), "a grpcs:// address needs the files --cert, --key and --ca (PEM)"),
        (
            ("--listen=unix:/no/such/folder/s", "a:B"),
            "--listen: cannot listen at /no/such/folder/s: there is no such folder",
        ),
        (("--listen=unix:/etc/passwd", "a:B"), "--listen: /etc/passwd exists and is no socket; choose another path"),
        (("--listen=unix:" + "x" * 200, "a:B"), "--listen: cannot listen at xxx"),
        (("--listen=unix:/etc/passwd/s", "a:B"), "--listen: cannot listen at /etc/passwd/s: Not a directory"),
        (("--listen", "a:B", "--listen"), "option --listen needs a value"),
        (("--listem=x", "a:B"), "unknown option --listem; there are: --path, --listen, --cert, --key, --ca"),
        (("--listen=unix:/tmp/x",), "expected at least one strategy: [NAME=]package.module:Class"),
        (("--listen=unix:/tmp/x", "nonsense"), "expected package.module:Class, got 'nonsense'"),
        (("a:B",), "This is an Enfilade strategy plugin. It is started by a host, not by hand."),
    ],
)
async def test_a_plugin_that_cannot_be_served_says_why(arguments: tuple[str, ...], text: str) -> None:
    assert (await refused(*arguments)).startswith(text)


async def test_two_plugins_do_not_share_a_socket(tmp_path: Path) -> None:
    listen = f"--listen=unix:{tmp_path}/s"
    async with served(listen, *OFFERS):
        assert await refused(listen, *OFFERS) == f"--listen: another process listens at {tmp_path}/s\n"


async def test_a_socket_left_by_a_plugin_that_was_killed_is_taken_over(tmp_path: Path, launcher: Launcher) -> None:
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(f"{tmp_path}/s")
    async with served(f"--listen=unix:{tmp_path}/s", *OFFERS) as address, remote(launcher, address) as guest:
        assert len(await messages(guest, "Kinds")) == 12
