"""The gRPC server of a plugin process."""

import asyncio
import hmac
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc

from enfilade_sdk import codec
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


class StrategyServicer:
    """Describe and Run over the strategies of one process."""

    def __init__(self, plugin: Plugin, *, token: str = "", name: str = "", version: str = "") -> None:
        self._plugin = plugin
        self._token = token
        self._name, self._version = name, version

    async def Describe(  # noqa: N802 - the wire's name
        self, _request: pb.DescribeRequest, context: "grpc.aio.ServicerContext[Any, Any]"
    ) -> pb.DescribeResponse:
        """What this process offers."""
        await self._check(context)
        return pb.DescribeResponse(
            protocol=codec.PROTOCOL,
            plugin=self._name,
            version=self._version,
            strategies=[codec.description_to_wire(d) for d in self._plugin.descriptions],
        )

    async def Run(  # noqa: N802 - the wire's name
        self, _requests: AsyncIterator[pb.HostFrame], context: "grpc.aio.ServicerContext[Any, Any]"
    ) -> None:
        """One run."""
        await self._check(context)
        try:
            await GuestRun(context, self._plugin.find).serve()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - its text must not leak as UNKNOWN
            _log.exception("a run broke off")
            await context.abort(grpc.StatusCode.INTERNAL, f"the plugin's server failed: {type(error).__name__}")

    async def _check(self, context: "grpc.aio.ServicerContext[Any, Any]") -> None:
        if not self._token:
            return
        given = next((v for k, v in context.invocation_metadata() or () if k == TOKEN_KEY), "")
        if not hmac.compare_digest(str(given), self._token):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the launch token is missing or wrong")


def make_server(
    servicer: StrategyServicer,
    on_shutdown: Callable[[], None],
    *,
    max_message_bytes: int,
    options: tuple[tuple[str, Any], ...] = (),
) -> "grpc.aio.Server":
    """A server with the strategy service, gRPC's health service and go-plugin's controller."""
    limits = (
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.http2.bdp_probe", 0),
    )
    server = grpc.aio.server(options=(*limits, *_PING_OPTIONS, *options))
    # The generated base class types Run as a generator; ours writes to the context, which grpc.aio allows too.
    rpc.add_StrategyPluginServicer_to_server(servicer, server)  # type: ignore[arg-type]

    async def check(_request: bytes, _context: Any) -> bytes:
        return HEALTH_SERVING

    async def watch(_request: bytes, _context: Any) -> AsyncIterator[bytes]:
        yield HEALTH_SERVING
        await asyncio.get_running_loop().create_future()

    async def shutdown(_request: bytes, _context: Any) -> bytes:
        on_shutdown()
        return b""

    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(
                "grpc.health.v1.Health",
                {"Check": _unary(check), "Watch": grpc.unary_stream_rpc_method_handler(watch)},
            ),
            grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": _unary(shutdown)}),
        )
    )
    return server


def _unary(method: Callable[[bytes, Any], Awaitable[bytes]]) -> Any:
    return grpc.unary_unary_rpc_method_handler(method)


async def serve_until_shutdown(server: "grpc.aio.Server", stop: asyncio.Event) -> None:
    """Serves until `stop` is set, then gives open runs the grace period."""
    await stop.wait()
    await server.stop(SHUTDOWN_GRACE)


def socket_path(folder: str) -> str:
    """Where a plugin process listens in its private directory."""
    return f"{folder}/{os.getpid()}.sock"
