"""One MCP server of the configuration."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from enfilade.secrecy.variable import VariableName
from enfilade.tools.fault import secrets_of
from enfilade.tools.mcp.failure import McpError


class McpSettings(BaseModel):
    """One MCP server (`[mcp.NAME]`): a program to start, or an address.

    Attributes:
        command: The program; without `args` it may be a whole command line, as one would type it.
        args: Its arguments.
        env: Variables to give it. It inherits `PATH`, `HOME`, `LANG` and a few more, and nothing else.
        env_from: Names of variables of the host that it is to have too; the way to hand over a secret.
        cwd: The folder to start it in; the host's own by default.
        url: The address of a server behind HTTP (the streamable transport).
        headers_env: Further HTTP headers: header name to the environment variable that holds its value.
        prefix: Put before the names of its tools, where two servers have tools of one name.
        timeout: Seconds one call may take; None leaves that to `tool_limits`.
        start_timeout: Seconds it has to start (or to be reached) and to say which tools it has.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    env_from: tuple[VariableName, ...] = ()
    cwd: Path | None = None
    url: str = ""
    headers_env: dict[str, VariableName] = Field(default_factory=dict)
    prefix: str = ""
    timeout: float | None = Field(default=None, gt=0)
    start_timeout: float = Field(default=60.0, gt=0)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command.strip()) == bool(self.url):
            raise ValueError("give either command (a program to start) or url (the address of a running server)")
        if self.url and not (self.url.startswith(("http://", "https://")) and urlsplit(self.url).hostname):
            raise ValueError(f"url must start with http:// or https:// and name a host, got {self.url!r}")
        local, remote = {"args", "env", "env_from", "cwd"}, {"headers_env"}
        misplaced = self.model_fields_set & (local if self.url else remote)
        if misplaced:
            kind = "a server at a url" if self.url else "a server started by a command"
            raise ValueError(f"{', '.join(sorted(misplaced))}: this is not for {kind}")
        self.words()
        return self

    def words(self) -> tuple[str, ...]:
        """The program and its arguments.

        Raises:
            ValueError: The command line has an open quote.
        """
        if self.args or not self.command:
            return (self.command.strip(), *self.args)
        try:
            return tuple(shlex.split(self.command))
        except ValueError as error:
            raise ValueError(f"command {self.command!r} cannot be split into words: {error}") from None

    def environment(self, host: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The variables to give it.

        Raises:
            McpError: One that it is to have is not set here.
        """
        return _values(dict.fromkeys(self.env_from), host, "env_from") | self.env

    def headers(self, host: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The HTTP headers to send.

        Raises:
            McpError: A variable that is to hold one is not set.
        """
        return _values(self.headers_env, host, "headers_env")

    def secrets(self, host: Mapping[str, str] = os.environ) -> frozenset[str]:
        """What no text may show."""
        handed_over = [host.get(name, "") for name in (*self.env_from, *self.headers_env.values())]
        return secrets_of(self.env) | {value for value in handed_over if value}


def _values(names: Mapping[str, str | None], host: Mapping[str, str], setting: str) -> dict[str, str]:
    """The values of variables, each under its key; a key without a name is the name."""
    missing = [name or key for key, name in names.items() if not host.get(name or key)]
    if missing:
        raise McpError(f"the environment variable {missing[0]}, which {setting} names, is not set")
    return {key: host[name or key] for key, name in names.items()}
