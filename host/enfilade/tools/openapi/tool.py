"""An operation of an HTTP interface as a tool."""

from collections.abc import AsyncIterator
from typing import Any

from enfilade.tools.json_value import clean_text
from enfilade.tools.openapi.arguments import Form
from enfilade.tools.openapi.interface import Interface
from enfilade.tools.openapi.operation import Operation
from enfilade.tools.openapi.request import request_of
from enfilade.tools.openapi.response import messages_of_response
from enfilade_sdk.messages import ToolInvokeMessage


class OperationTool:
    """One operation.

    Args:
        operation: The operation.
        form: Its arguments.
        interface: Sends its requests.
        provider: Where it comes from.
        prefix: What stands before its name.
        timeout: Seconds one call may take; None for the engine's own limit.
    """

    def __init__(
        self,
        operation: Operation,
        form: Form,
        interface: Interface,
        *,
        provider: str,
        prefix: str = "",
        timeout: float | None = None,
    ) -> None:
        self.name = prefix + clean_text(operation.name)
        self.description = clean_text(operation.description)
        self.schema: object = form.schema
        self.provider = provider
        self.timeout = timeout
        self.secrets = interface.credentials.secrets
        self._operation = operation
        self._slots = form.slots
        self._interface = interface

    async def invoke(self, arguments: dict[str, Any]) -> AsyncIterator[ToolInvokeMessage]:
        """Sends the request and gives what was answered.

        Raises:
            InvalidParamsError: A value cannot stand where it would have to.
            HttpFailure: The interface answered with an error, or could not be reached.
            LimitExceededError: The answer is too large.
        """
        base, credentials = self._interface.base_url, self._interface.credentials
        request = request_of(self._operation, self._slots, arguments, base, credentials)
        async with self._interface.answered(request) as response:
            for message in await messages_of_response(response):
                yield message
