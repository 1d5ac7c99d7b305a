"""The gRPC server of a plugin process."""

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import grpc

from enfilade_sdk.serving.address import unix_address
from enfilade_sdk.serving.description import describe_plugin
from enfilade_sdk.serving.handshake import Launch
from enfilade_sdk.serving.plugin import Plugin
from enfilade_sdk.serving.run import GuestRun
from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1 import strategy_pb2_grpc as rpc

_log = logging.getLogger(__name__)

TOKEN_KEY = "enfilade-token"  # noqa: S105 - the key's name, not a secret
HEALTH_SERVING = b"\x08\x01"
"""`grpc.health.v1.HealthCheckResponse` with status SERVING, as it stands on the wire."""

SHUTDOWN_GRACE = 1.0
"""Seconds that open runs have after a shutdown was asked for."""

_PING_OPTIONS = (
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.keepalive_permit_without_calls", 1),
)

Context = Any
"""`grpc.aio.ServicerContext`; its type parameters differ from handler to handler."""


class StrategyServicer:
    """Describe and Run over the strategies of one process, for those who have the token."""

    def __init__(self, plugin: Plugin, *, token: str = "") -> None:
        self._plugin = plugin
        self._token = token.encode()

    async def Describe(self, _request: pb.DescribeRequest, context: Context) -> pb.DescribeResponse:  # noqa: N802 - the wire's name
        """What this process offers."""
        await self.check(context)
        return describe_plugin(self._plugin)

    async def Run(self, _requests: AsyncIterator[pb.HostFrame], context: Context) -> None:  # noqa: N802 - the wire's name
        """One run."""
        await self.check(context)
        try:
            await GuestRun(context, self._plugin.find).serve()
        except Exception as error:  # noqa: BLE001 - its text must not leak as UNKNOWN
            _log.exception("a run broke off")
            await context.abort(grpc.StatusCode.INTERNAL, f"the plugin's server failed: {type(error).__name__}")

    async def check(self, context: Context) -> None:
        """Ends an RPC that comes without this launch's token."""
        if not self._token:
            return
        given = next((v for k, v in context.invocation_metadata() or () if k == TOKEN_KEY), "")
        if not hmac.compare_digest(str(given).encode(), self._token):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the launch token is missing or wrong")


def make_server(
    servicer: StrategyServicer,
    on_shutdown: Callable[[], None] | None,
    *,
    max_message_bytes: int,
    options: Sequence[tuple[str, Any]] = (),
) -> "grpc.aio.Server":
    """A server with the strategy service and gRPC's health service.

    Args:
        servicer: Answers the strategy service.
        on_shutdown: Called when the host says that this process is done; with it, go-plugin's controller is served too.
        max_message_bytes: The limit for one frame, both ways.
        options: Further options of gRPC's.
    """
    limits = (
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.http2.bdp_probe", 0),
    )
    server = grpc.aio.server(options=(*limits, *_PING_OPTIONS, *options))
    # The generated base class types Run as a generator; ours writes to the context, which grpc.aio allows too.
    rpc.add_StrategyPluginServicer_to_server(servicer, server)  # type: ignore[arg-type]
    server.add_generic_rpc_handlers((_health(),))
    if on_shutdown is not None:
        server.add_generic_rpc_handlers((_controller(servicer, on_shutdown),))
    return server


def _health() -> "grpc.GenericRpcHandler":
    async def check(_request: bytes, _context: Context) -> bytes:
        return HEALTH_SERVING

    async def watch(_request: bytes, _context: Context) -> AsyncIterator[bytes]:
        yield HEALTH_SERVING
        await asyncio.get_running_loop().create_future()

    methods = {"Check": _unary(check), "Watch": grpc.unary_stream_rpc_method_handler(watch)}
    return grpc.method_handlers_generic_handler("grpc.health.v1.Health", methods)


def _controller(servicer: StrategyServicer, on_shutdown: Callable[[], None]) -> "grpc.GenericRpcHandler":
    async def shutdown(_request: bytes, context: Context) -> bytes:
        await servicer.check(context)
        on_shutdown()
        return b""

    return grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": _unary(shutdown)})


def _unary(method: Callable[[bytes, Context], Awaitable[bytes]]) -> Any:
    return grpc.unary_unary_rpc_method_handler(method)


class GrpcServing:
    """A server that was started."""

    def __init__(self, server: "grpc.aio.Server") -> None:
        self._server = server

    async def serve_until(self, stop: asyncio.Event) -> None:
        """Serves until `stop` is set, then gives open runs the grace period, and no more."""
        await stop.wait()
        stopping = asyncio.ensure_future(self._server.stop(SHUTDOWN_GRACE))
        await asyncio.wait({stopping}, timeout=SHUTDOWN_GRACE + 0.5)


async def started(plugin: Plugin, launch: Launch, path: str, stop: asyncio.Event) -> GrpcServing:
    """Serves a launch at a path; go-plugin's shutdown call sets `stop`."""
    servicer = StrategyServicer(plugin, token=launch.token)
    server = make_server(servicer, stop.set, max_message_bytes=launch.max_message_bytes)
    server.add_insecure_port(unix_address(path))
    await server.start()
    return GrpcServing(server)
