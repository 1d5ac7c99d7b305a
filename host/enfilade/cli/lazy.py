"""Commands and what they do, imported when they are needed, so that help costs nothing."""

import gc
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click


def call(target: str, *arguments: Any, **named: Any) -> int:
    """Imports `package.module:function`, calls it, and gives its exit code."""
    code: int = _named(target)(*arguments, **named)
    return code


class LazyGroup(click.Group):
    """A group whose commands are imported one by one.

    Args:
        targets: Where each command is declared, by its name: `package.module:command`.
        further: A function (`package.module:function`) that is asked for the target of a name that is not among them;
            it gives None where there is none.
    """

    def __init__(self, *arguments: Any, targets: Mapping[str, str], further: str = "", **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._targets = targets
        self._further = further

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's form
        """The names, in the order of the table."""
        return list(self._targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name."""
        target = self._targets.get(cmd_name)
        if target is not None:
            command: click.Command = _named(target)
            return command
        return self._further_command(cmd_name) if self._further else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words name; an unknown one is told with what is near."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self._targets, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from None

    def _further_command(self, name: str) -> click.Command | None:
        target = _named(self._further)(name)
        if target is None:
            return None
        try:
            command = _named(target)
        except Exception as error:  # noqa: BLE001 - it is somebody else's code
            raise click.ClickException(f"the command {name!r} is at {target}, which fails: {error!r}") from None
        if not isinstance(command, click.Command):
            raise click.ClickException(f"the command {name!r} is at {target}, which is no click command")
        return command


def _named(target: str) -> Any:
    module, _, name = target.partition(":")
    collects = gc.isenabled()
    gc.disable()  # nearly all that modules make stays; to look through it again and again takes a tenth of their time
    try:
        return getattr(import_module(module), name)
    finally:
        if collects:
            gc.enable()
