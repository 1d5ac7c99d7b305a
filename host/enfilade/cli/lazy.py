"""Commands and what they do, imported when they are needed, so that help costs nothing."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


def call(target: str, *arguments: Any) -> int:
    """Imports `package.module:function`, calls it, and gives its exit code."""
    module, _, name = target.partition(":")
    code: int = getattr(import_module(module), name)(*arguments)
    return code


class LazyGroup(click.Group):
    """A group whose commands are imported one by one.

    Args:
        targets: Where each command is declared, by its name: `package.module:command`.
    """

    def __init__(self, *arguments: Any, targets: Mapping[str, str], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._targets = targets

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's form
        """The names, in the order of the table."""
        return list(self._targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name."""
        target = self._targets.get(cmd_name)
        if target is None:
            return None
        module, _, name = target.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command
