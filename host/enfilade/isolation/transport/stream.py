"""What carries runs to a plugin: gRPC, or the plain link to a process that this host started with the SDK."""

from collections.abc import Callable
from typing import Protocol

from enfilade_sdk.serving.link import StreamBrokenError
from enfilade_wire.v1 import strategy_pb2 as pb


class RunStream(Protocol):
    """The stream that carries one run, as the host holds it."""

    @property
    def done(self) -> bool:
        """Whether it is over and all that came was read."""
        ...

    @property
    def frame_bytes(self) -> int:
        """Bytes of the frame that was read last."""
        ...

    async def read(self) -> pb.PluginFrame | None:
        """The next frame; None at the end of a stream that ended well. A reader that is cancelled loses nothing.

        Raises:
            StreamBrokenError: It ended otherwise.
        """
        ...

    async def write(self, message: pb.HostFrame) -> None:
        """Writes a frame; waits for flow control.

        Raises:
            StreamBrokenError: The stream is over.
        """
        ...

    def cancel(self) -> None:
        """Gives the run up."""
        ...


class Transport(Protocol):
    """A connection to one plugin."""

    async def describe(self, seconds: float) -> pb.DescribeResponse:
        """Asks what the plugin offers; connects first.

        Raises:
            TimeoutError: No answer came in time.
            StreamBrokenError: It cannot be reached, or died over it.
            ConfigError: A file that the connection needs cannot be used.
        """
        ...

    async def alive(self, seconds: float) -> bool:
        """Whether the plugin's own code answers in time."""
        ...

    def when_lost(self, tell: Callable[[StreamBrokenError], None]) -> None:
        """Has somebody told when the connection is gone for good, also when the host closed it."""
        ...

    def open_run(self) -> RunStream:
        """A stream for one run."""
        ...

    async def shut_down(self, seconds: float) -> None:
        """Asks a started plugin to end; whatever comes of it."""
        ...

    async def close(self) -> None:
        """Closes the connection; streams that are left break."""
        ...
