"""What is started as a plugin's process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from enfilade.isolation.journal import Journal
from enfilade.sandboxing import UNCONFINED, Sandboxing
from enfilade_sdk.serving import doorway
from enfilade_sdk.serving.handshake import GRPC


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """What to start.

    Attributes:
        plugin: The plugin's name, for logs and errors.
        command: The program and its arguments.
        speaks_launch_line: Whether it reads our line on stdin (SDK plugins do, others need not).
        environment: Variables the operator set for it.
        start_timeout: Seconds until its handshake line must have come, and as many until it must have said what it
            offers.
        transports: What is offered to it, the best first; `grpc` is what a plugin speaks that was not offered any.
        check: Called, in a thread, before it is started; what it raises is why it is not.
        modules: What it imports of the host's own environment, to be compiled for the next start.
        journal: Masks what it prints and passes it on.
        sandboxing: How it is confined.
        readable: What of its own it reads.
    """

    plugin: str
    command: tuple[str, ...]
    speaks_launch_line: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    start_timeout: float = 10.0
    transports: tuple[str, ...] = (GRPC,)
    check: Callable[[], object] | None = None
    modules: tuple[str, ...] = ()
    journal: Journal | None = None
    sandboxing: Sandboxing = UNCONFINED
    readable: tuple[str, ...] = ()


def sdk_command(
    python: str, offers: Sequence[str], paths: Sequence[str] = (), site_packages: str = ""
) -> tuple[str, ...]:
    """The command that serves strategies with the SDK in an interpreter: isolated from its user's settings.

    Args:
        python: The interpreter.
        offers: `NAME=package.module:Class` of each strategy.
        paths: Folders that go before the installed packages.
        site_packages: The packages of an environment that the plugin has for itself, which is not written to; empty
            for the interpreter's own.
    """
    flags = ("-I", "-S", "-B") if site_packages else ("-I", "-S")
    extra = [f"--path={path}" for path in paths]
    return (python, *flags, doorway.__file__, site_packages or doorway.INTERPRETERS_OWN, *extra, *offers)
