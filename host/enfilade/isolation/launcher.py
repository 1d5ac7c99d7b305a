"""From candidate to guest: how each kind of plugin comes to life."""

import os
import sys
from collections.abc import Iterator

from enfilade.candidate import Candidate
from enfilade.isolation.environment import ALLOWED, GUEST_PATH
from enfilade.isolation.launch_spec import LaunchSpec, sdk_command
from enfilade.isolation.process import StopTimes
from enfilade.isolation.remote import RemoteGuest
from enfilade.isolation.sandbox.places import command_places, interpreter_places, package_places, variable_places
from enfilade.isolation.supervision.backoff import CrashPolicy
from enfilade.isolation.supervision.guest import Guest, StartedGuest
from enfilade.isolation.watch import Watch
from enfilade.sandboxing import Sandboxing
from enfilade_sdk.serving import doorway
from enfilade_sdk.serving.handshake import GRPC, LINK

TRANSPORTS = (LINK, GRPC)
"""What plugins served by the SDK are offered; others speak gRPC."""


class Launcher:
    """Makes guests, all in the care of one guardian."""

    def __init__(
        self,
        times: StopTimes | None = None,
        policy: CrashPolicy | None = None,
        transports: tuple[str, ...] = TRANSPORTS,
    ) -> None:
        self._transports = transports
        self._watch = Watch()
        self._times = times or StopTimes()
        self._policy = policy or CrashPolicy()

    def guest(self, candidate: Candidate) -> Guest:
        """The guest of a plugin; it comes to life when it is first used."""
        if candidate.address:
            return RemoteGuest(candidate, self._policy)
        care, version, spec = candidate.supervision, candidate.version, _spec(candidate, self._transports)
        return StartedGuest(spec, self._watch, self._times, care, self._policy, version)

    async def close(self) -> None:
        """Lets the guardian go, after the guests were stopped."""
        await self._watch.close()


def _spec(candidate: Candidate, transports: tuple[str, ...]) -> LaunchSpec:
    command, own = candidate.command, candidate.own_environment
    python = candidate.python or sys.executable
    if not command:
        offers = [f"{offer.name}={offer.target}" for offer in candidate.offers]
        packages = str(own.site_packages) if own else ""
        command = sdk_command(python, offers, candidate.paths, packages)
    return LaunchSpec(
        plugin=candidate.plugin,
        command=command,
        speaks_launch_line=not candidate.command,
        environment=candidate.environment,
        start_timeout=candidate.start_timeout,
        transports=transports if not candidate.command else (GRPC,),
        check=own.check if own else None,
        modules=_modules(candidate),
        sandboxing=candidate.sandboxing or Sandboxing(),
        readable=tuple(_readable(candidate, python)),
    )


def _modules(candidate: Candidate) -> tuple[str, ...]:
    """What a plugin in the host's own environment imports; none where its environment is not ours to write to."""
    if candidate.command or candidate.own_environment is not None or candidate.python not in ("", sys.executable):
        return ()
    return tuple(offer.target.partition(":")[0] for offer in candidate.offers)


def _readable(candidate: Candidate, python: str) -> Iterator[str]:
    """What of its own a plugin reads: its interpreter, its packages, what its command and its variables name."""
    yield from variable_places({name: os.environ[name] for name in ALLOWED if name in os.environ})
    yield from variable_places(candidate.environment)
    if candidate.command:
        yield from command_places(candidate.command, candidate.environment.get("PATH", GUEST_PATH))
        return
    yield from (doorway.__file__, *interpreter_places(python), *candidate.paths)
    if candidate.own_environment is not None:
        yield str(candidate.own_environment.site_packages.parents[2])
    else:
        yield from package_places(python)
