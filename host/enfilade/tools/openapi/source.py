"""The operations of an OpenAPI document as a source of tools."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from enfilade.secrecy.address import shown_address
from enfilade.tools.json_value import clean_text
from enfilade.tools.names import did_you_mean
from enfilade.tools.openapi.arguments import form_of
from enfilade.tools.openapi.document import Document, read_document
from enfilade.tools.openapi.failure import DocumentError, OperationFault
from enfilade.tools.openapi.interface import Interface
from enfilade.tools.openapi.operation import Operation, Refused, operations_of
from enfilade.tools.openapi.references import References
from enfilade.tools.openapi.settings import Credentials, OpenApiSettings
from enfilade.tools.openapi.tool import OperationTool
from enfilade.tools.tool import Tool
from enfilade_sdk.errors import ToolNotFoundError

_log = logging.getLogger(__name__)


class OpenApiSource:
    """All operations of a document, or those that were chosen.

    Args:
        origin: What the source is called in reports.
        settings: Document, address, credentials.
        folder: Where relative paths start.
    """

    def __init__(self, origin: str, settings: OpenApiSettings, folder: Path) -> None:
        self.origin = origin
        self._settings = settings
        self._folder = folder
        self._interfaces: dict[str, Interface] = {}

    async def load(self) -> list[Tool]:
        """Reads the document.

        Operations that cannot be tools are logged and left out, unless they were chosen by name.

        Raises:
            EnfiladeError: The document cannot be used, or lacks an operation that was chosen.
        """
        credentials = self._settings.credentials()
        document = await read_document(self._settings.document, self._folder)
        tools = await asyncio.to_thread(self._tools, document, credentials)
        for interface in self._interfaces.values():
            await interface.open()
        return tools

    async def aclose(self) -> None:
        """Closes the connections."""
        interfaces, self._interfaces = self._interfaces, {}
        for interface in interfaces.values():
            await interface.close()

    def _tools(self, document: Document, credentials: Credentials) -> list[Tool]:
        """The tools; takes seconds for large documents, so it is for a thread."""
        chosen = self._chosen(list(operations_of(document)))
        self._warn_of_missing(chosen, credentials, document)
        references = References(document.root)
        tools: list[Tool] = []
        refused: list[str] = []
        for operation in chosen:
            try:
                tools.append(self._tool(operation, references, document, credentials))
            except OperationFault as fault:
                refused.append(f"{clean_text(operation.name)!r}: {fault}")
        self._report(refused, has_tools=bool(tools))
        return tools

    def _report(self, refused: list[str], *, has_tools: bool) -> None:
        if refused and (self._settings.operations or not has_tools):
            raise DocumentError(f"{self.origin}: no tool can be made of {'; of '.join(refused[:5])}")
        for one in refused:
            _log.warning("%s: no tool is made of %s", self.origin, one)

    def _tool(
        self, operation: Operation | Refused, references: References, document: Document, credentials: Credentials
    ) -> OperationTool:
        """The tool of an operation.

        Raises:
            OperationFault: None can be made.
            DocumentError: There is no address for it, or none that its credentials may be sent to.
        """
        if isinstance(operation, Refused):
            raise OperationFault(operation.reason)
        operation = _without(operation, credentials)
        return OperationTool(
            operation,
            form_of(operation, references),
            self._interface(operation, document, credentials),
            provider=self.origin,
            prefix=self._settings.prefix,
            timeout=self._settings.timeout,
        )

    def _interface(self, operation: Operation, document: Document, credentials: Credentials) -> Interface:
        base = self._settings.base_url or operation.server
        if not base:
            raise DocumentError(f"{document.shown} does not say where the interface is: set base_url")
        if credentials and not self._settings.base_url and document.url and _origin(base) != _origin(document.url):
            raise DocumentError(
                f"{document.shown} says that the interface is at {shown_address(base)}: set base_url to that, if the "
                "credentials are to be sent there"
            )
        if base not in self._interfaces:
            self._interfaces[base] = Interface(base, credentials)
        return self._interfaces[base]

    def _chosen(self, found: list[Operation | Refused]) -> list[Operation | Refused]:
        patterns = self._settings.operations
        for pattern in patterns:
            if not any(_matches(operation, pattern) for operation in found):
                names = [operation.name for operation in found]
                meant = did_you_mean(pattern, [*names, *(operation.route for operation in found)])
                raise ToolNotFoundError(
                    f"{self.origin} has no operation {pattern!r}.{meant or f' It has: {_some(names)}'}"
                )
        chosen = [one for one in found if not patterns or any(_matches(one, pattern) for pattern in patterns)]
        if not chosen:
            raise DocumentError(f"{self.origin} describes no operations")
        return chosen

    def _warn_of_missing(
        self, chosen: Sequence[Operation | Refused], credentials: Credentials, document: Document
    ) -> None:
        """Says which credentials the document wants, where none are given at all."""
        wanted = {name for one in chosen if isinstance(one, Operation) for name in one.schemes}
        if wanted and not credentials:
            kinds = ", ".join(sorted(_scheme(document, name) for name in wanted))
            _log.warning(
                "%s wants credentials (%s) and is given none: set bearer_env, basic_env, headers_env or query_env in "
                "[openapi.NAME]",
                self.origin,
                kinds,
            )


def _without(operation: Operation, credentials: Credentials) -> Operation:
    """The operation without the parameters that the credentials fill in."""
    own = {("header", name.lower()) for name in credentials.headers} | {("query", n) for n in credentials.query}
    kept = [
        one
        for one in operation.parameters
        if (one.place, one.name.lower() if one.place == "header" else one.name) not in own
    ]
    return replace(operation, parameters=tuple(kept))


def _matches(operation: Operation | Refused, pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in (operation.name, operation.route))


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port


def _scheme(document: Document, name: str) -> str:
    components = document.root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, dict) else None
    found = schemes.get(name) if isinstance(schemes, dict) else None
    if not isinstance(found, dict):
        return clean_text(name)
    if found.get("type") == "apiKey":
        return f"a key in the {found.get('in')} {clean_text(str(found.get('name')))!r}"
    return clean_text(str(found.get("scheme") or found.get("type") or name))


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""  # noqa: PLR2004 - as many as one reads
    return ", ".join(names[:20]) + more
