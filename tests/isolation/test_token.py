"""Only the host that launched a plugin, and so has its token, can use it or end it."""

import sys
from typing import Any

import grpc
import pytest

from enfilade.isolation.launch_spec import LaunchSpec, sdk_command
from enfilade.isolation.process import AT_ONCE, launch, new_token
from enfilade.isolation.watch import Watch
from enfilade_sdk.serving.address import unix_address
from enfilade_sdk.serving.server import TOKEN_KEY
from enfilade_wire.v1 import strategy_pb2 as pb
from enfilade_wire.v1.strategy_pb2_grpc import StrategyPluginStub
from tests.support.faulty_guest import OFFERS

METADATA: list[Any] = [None, ((TOKEN_KEY, ""),), ((TOKEN_KEY, "0" * 64),), (("other-key", "x"),)]


async def test_a_plugin_answers_nobody_without_its_launch_token() -> None:
    spec = LaunchSpec("harm", sdk_command(sys.executable, ["Works=at_run:Works"], [str(OFFERS)]), start_timeout=20)
    watch = Watch()
    process = await launch(spec, watch)
    try:
        await check_token(unix_address(process.handshake.socket.path), process.token)
        assert process.exit_code is None
    finally:
        process.let_go()
        await process.stop(watch, AT_ONCE, asked=False)
        await watch.close()


async def check_token(address: str, token: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = StrategyPluginStub(channel)
        shutdown: Any = channel.unary_unary("/plugin.GRPCController/Shutdown")
        for metadata in METADATA:
            for call in (
                stub.Describe(pb.DescribeRequest(), metadata=metadata, timeout=10),
                shutdown(b"", metadata=metadata, timeout=10),
                stub.Run(metadata=metadata, timeout=10).read(),
            ):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await call
                assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
                assert caught.value.details() == "the launch token is missing or wrong"
        described = await stub.Describe(pb.DescribeRequest(), metadata=((TOKEN_KEY, token),), timeout=10)
        assert [strategy.name for strategy in described.strategies] == ["Works"]


def test_the_token_of_each_launch_is_long_and_its_own() -> None:
    made = {new_token() for _ in range(10)}
    assert len(made) == 10
    assert {len(token) for token in made} == {64}
