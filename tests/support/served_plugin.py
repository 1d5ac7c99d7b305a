"""A plugin of the trial strategies, served at an address by hand."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trustme

ROOT = Path(__file__).parents[2]
SECONDS = 20.0


@asynccontextmanager
async def served(*arguments: str) -> AsyncIterator[str]:
    """Serves until the end of the block; gives the address it says it listens at."""
    command = [sys.executable, "-m", "enfilade_sdk.serving", f"--path={ROOT}", *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), SECONDS)
        yield line.decode().removeprefix("listening at ").strip()
        process.terminate()
        await asyncio.wait_for(process.wait(), SECONDS)
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def refused(*arguments: str) -> str:
    """Tries to serve; gives what the failure is told by."""
    command = [sys.executable, "-m", "enfilade_sdk.serving", f"--path={ROOT}", *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    out, error = await asyncio.wait_for(process.communicate(), SECONDS)
    assert (process.returncode, out) == (1, b"")
    assert b"Traceback" not in error
    return error.decode()


class Certificates:
    """PEM files of an authority, and of a host and a plugin that it signed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        authority = trustme.CA()
        self.ca = folder / "ca.pem"
        authority.cert_pem.write_to_path(str(self.ca))
        self.host, self.host_key = self._issue(authority, folder, "host", "host.internal")
        self.plugin, self.plugin_key = self._issue(authority, folder, "plugin", "localhost", "127.0.0.1")

    def _issue(self, authority: trustme.CA, folder: Path, name: str, *identities: str) -> tuple[Path, Path]:
        issued = authority.issue_cert(*identities)
        certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
        issued.cert_chain_pems[0].write_to_path(str(certificate))
        issued.private_key_pem.write_to_path(str(key))
        return certificate, key

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the plugin is served with."""
        return (f"--cert={self.plugin}", f"--key={self.plugin_key}", f"--ca={self.ca}")

    @property
    def files(self) -> dict[str, Path]:
        """What the host connects with."""
        return {"ca": self.ca, "certificate": self.host, "key": self.host_key}
