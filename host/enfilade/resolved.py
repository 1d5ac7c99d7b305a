"""A strategy as the structural contract has it, whether it runs here or in a process of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from typing import Any

from enfilade.admission import Admitted
from enfilade.errors import HostError
from enfilade.run import Run
from enfilade_sdk.call import Call
from enfilade_sdk.invocation import InvokeCredentials
from enfilade_sdk.messages import ToolInvokeMessage
from enfilade_sdk.parameters import AgentStrategyParameter


class _NoEnd:
    """No message is of this class: a run's messages have no result beside them."""


class ResolvedStrategy:
    """The host's view of a strategy; satisfies `ResolvedAgentStrategy`.

    Its blocking members are for other threads than the host's loop; the loop itself uses `messages`.
    """

    def __init__(
        self,
        name: str,
        loop: asyncio.AbstractEventLoop,
        opened: Callable[[], Coroutine[Any, Any, Admitted]],
        start: Callable[..., Run],
    ) -> None:
        self.name = name
        self._loop = loop
        self._opened = opened
        self._start = start

    @property
    def meta_version(self) -> str | None:
        """The version of the contract it was written for."""
        return self._admitted().description.meta_version

    def get_parameters(self) -> Sequence[AgentStrategyParameter]:
        """The parameters it declares.

        Raises:
            EnfiladeError: Its plugin could not be opened, or does not fit the contract.
        """
        return self._admitted().description.parameters

    def invoke(
        self,
        *,
        params: dict[str, Any],
        user_id: str,
        conversation_id: str | None = None,
        app_id: str | None = None,
        message_id: str | None = None,
        credentials: InvokeCredentials | None = None,
    ) -> Generator[ToolInvokeMessage, None, None]:
        """Runs it and gives its messages; closing the generator cancels the run. Its arguments are the contract's.

        Raises:
            EnfiladeError: The run failed.
        """
        self._check_thread()
        call: Call[ToolInvokeMessage, _NoEnd] = Call(
            self.messages(
                params=params,
                user_id=user_id,
                conversation_id=conversation_id,
                app_id=app_id,
                message_id=message_id,
                credentials=credentials,
            ),
            _NoEnd,
            self._loop,
        )
        try:
            yield from call
        finally:
            call.cancel()

    async def messages(self, *, params: dict[str, Any], user_id: str, **ids: Any) -> AsyncIterator[ToolInvokeMessage]:
        """The awaitable form of `invoke`, for the host's own loop."""
        run = self._start(self.name, params, user_id=user_id, **ids)
        try:
            async for message in run:
                yield message
        finally:
            await run.aclose()

    def _admitted(self) -> Admitted:
        self._check_thread()
        return asyncio.run_coroutine_threadsafe(self._opened(), self._loop).result()

    def _check_thread(self) -> None:
        with suppress(RuntimeError):
            if asyncio.get_running_loop() is self._loop:
                raise HostError(
                    f"strategy {self.name!r}: the blocking form was used on the host's own loop; use 'messages', "
                    "'host.open', or another thread (asyncio.to_thread)"
                )


class Resolver:
    """Finds strategies by provider and name; satisfies `AgentStrategyResolver`."""

    def __init__(self, resolve: Callable[[str, str], ResolvedStrategy]) -> None:
        self._resolve = resolve

    def resolve(
        self, *, tenant_id: str, agent_strategy_provider_name: str, agent_strategy_name: str
    ) -> ResolvedStrategy:
        """The strategy of that name from that provider (a plugin's name); one host serves one tenant.

        Raises:
            StrategyNotFoundError: There is none; the text lists near matches.
        """
        del tenant_id
        return self._resolve(agent_strategy_provider_name, agent_strategy_name)
