"""`python -m tests.support.hostile_host PROFILE [WORD=VALUE...]`: a host with a hostile plugin and a neighbour.

Prints one line of JSON: what came of each deed, which layers were in force, and who the host was. It is a process of
its own because a host that is attacked should be a whole one, with secrets in its environment.
"""

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from enfilade.candidate import Candidate, Offer
from enfilade.isolation.launcher import Launcher
from enfilade.isolation.supervision.backoff import CrashPolicy
from enfilade.isolation.supervision.guest import Guest, StartedGuest
from enfilade.sandboxing import Profile, Sandboxing
from enfilade.settings.sandbox import SandboxSettings
from enfilade_sdk.errors import EnfiladeError
from enfilade_sdk.serving.handshake import GRPC, LINK
from tests.support.faulty_guest import NO_FORK_HANDLERS, ROOT
from tests.support.hostile_plugin.deeds import DEEDS
from tests.support.hostile_plugin.lies import LIES, OVER_LINK, ROGUE
from tests.support.leftovers import alive
from tests.support.trial_hatch import TrialHatch, says
from tests.support.trial_run import texts

SECRET = "HOSTILE_TEST_SECRET"
MIB = 1024 * 1024
MEMORY, FILE_SIZE = 512 * MIB, 16 * MIB
REFUSALS = ("tool_not_found: ", "model_failed: ")
"""How the answer to a call begins that was not granted."""

VIOLENT = ("memory-bomb", "shared-bomb")
"""Deeds that may cost the plugin its process; they come last."""


def candidate(name: str, sandboxing: Sandboxing) -> Candidate:
    """A plugin that offers the hostile strategy; its packages may come from folders, for users who see no others."""
    libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    folders = os.environ.get("HOSTILE_PATHS", str(ROOT)).split(os.pathsep)
    return Candidate(
        plugin=name,
        offers=(Offer("hostile", "tests.support.hostile_plugin.strategy:Hostile"),),
        paths=tuple(folders),
        environment=NO_FORK_HANDLERS | libraries,
        sandboxing=sandboxing,
        start_timeout=60,
    )


async def main(profile: Profile, words: list[str]) -> dict[str, Any]:
    """Lets the plugin do all its deeds under a profile."""
    choices = dict(word.split("=") for word in words)
    asked = replace(
        SandboxSettings.model_validate(choices).sandboxing(profile), memory=MEMORY, file_size=FILE_SIZE, required=False
    )
    held = left_open()
    launcher = Launcher()
    guests = [launcher.guest(candidate(name, asked)) for name in ("hostile", "neighbour")]
    hostile, neighbour = (cast(StartedGuest, guest) for guest in guests)
    try:
        await neighbour.describe()
        private = sockets()[0]
        await hostile.describe()
        with ground(neighbour, private) as target:
            results = await deeds(hostile, target)
            strays = [int(results["daemon"]["gained"])] if "gained" in results["daemon"] else []
        told = {"profile": hostile.confined.profile, "active": hostile.confined.active}
    finally:
        os.close(held)
        for guest in (hostile, neighbour):
            await guest.stop()
        await launcher.close()
    if strays:
        results["daemon"] = survived(strays[0], profile)
    said = {name: await lies(asked, name) for name in (LINK, GRPC)}
    return {"user": os.getuid(), "results": results, "lies": said, **told}


async def deeds(hostile: StartedGuest, target: dict[str, str], names: Iterable[str] = DEEDS) -> dict[str, Any]:
    """What came of each deed."""
    results = {}
    for name in sorted(names, key=lambda name: (name in VIOLENT, name)):
        try:
            said = await texts(hostile, "hostile", deed=name, target=json.dumps(target))
            results[name] = json.loads(said[0])
        except EnfiladeError as error:
            results[name] = {"refused": f"{type(error).__name__}: {error.message}"}
    return results


async def lies(asked: Sandboxing, transport: str) -> dict[str, Any]:
    """What came of each thing that a plugin may not say, over a transport."""
    launcher = Launcher(policy=CrashPolicy(first=0, window=0), transports=(transport,))
    guest = launcher.guest(candidate("rogue", asked))
    results = {}
    try:
        for name in LIES:
            if transport == LINK or name not in OVER_LINK:
                results[name] = await lie(guest, name)
                assert "gained" in (await deeds(cast(StartedGuest, guest), {}, ["own-folder"]))["own-folder"]
    finally:
        await guest.stop()
        await launcher.close()
    return results


async def lie(guest: Guest, name: str) -> dict[str, str]:
    """Whether a lie was believed."""
    try:
        said = await texts(guest, ROGUE, TrialHatch(tool=says("done")), deed=name)
    except EnfiladeError as error:
        return {"refused": f"{error.code}: {error.message}"}
    refused = said and all(text.startswith(REFUSALS) for text in said)
    return {"refused" if refused else "gained": "; ".join(said)}


@contextmanager
def ground(neighbour: StartedGuest, private: Path) -> Iterator[dict[str, str]]:
    """What there is to be attacked."""
    with (
        tempfile.TemporaryDirectory(prefix="hostile-") as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log,
        ExitStack() as terminal,
    ):
        udp.bind(("127.0.0.1", 0))
        ends = os.openpty()
        for end in ends:
            terminal.callback(os.close, end)
        abstract.bind(f"\0{folder}")
        abstract.listen()
        Path(folder).chmod(0o755)
        log.bind(f"{folder}/log")
        Path(folder, "log").chmod(0o777)
        secret = os.environ[SECRET]
        home = Path(folder, "secret")
        home.write_text(secret)
        home.chmod(0o600)
        code = Path(folder, "code.py")
        code.write_text("pass\n")
        note = private.parent / "note"
        note.write_text(secret)
        note.chmod(0o600)
        yield {
            "host": str(os.getpid()),
            "secret": secret,
            "home_file": str(home),
            "code": str(code),
            "outside": "/var/tmp",
            "neighbour": str(neighbour_pid(neighbour)),
            "neighbour_file": str(note),
            "neighbour_socket": str(private),
            "abstract": folder,
            "terminal": os.ttyname(ends[1]),
            "datagram": f"{folder}/log",
            "tcp": str(tcp.getsockname()[1]),
            "udp": str(udp.getsockname()[1]),
            "memory": str(MEMORY),
            "file_size": str(FILE_SIZE),
        }


def left_open() -> int:
    """The descriptor of a file with the secret, which those inherit who are started without care."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(os.environ[SECRET])
        file.flush()
        held = os.open(file.name, os.O_RDONLY)
    os.set_inheritable(held, True)
    return held


def sockets() -> list[Path]:
    """Where the plugins of this host listen."""
    return list(Path("/tmp").glob(f"enf-{os.getpid()}-*/*.sock"))


def neighbour_pid(neighbour: StartedGuest) -> int:
    pid = neighbour.pid
    assert pid is not None
    return pid


def survived(pid: int, profile: Profile) -> dict[str, str]:
    """Whether what the plugin left behind is there after its end; it is put away."""
    if not is_sleeper(pid):
        return {"refused": "it was ended with the plugin"}
    os.kill(pid, 9)
    return {"gained": f"process {pid} outlived its plugin under {profile}"}


def is_sleeper(pid: int) -> bool:
    """Whether a process is the one that was left behind; in another pid namespace its number means another here."""
    try:
        return alive(pid) and b"/bin/sleep\x0060" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(cast(Profile, sys.argv[1]), sys.argv[2:]))), flush=True)
