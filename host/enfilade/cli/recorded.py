"""Whether a command's runs are recorded, and in which conversation."""

from enfilade.cli.options import AskOptions
from enfilade.cli.question import is_utf8
from enfilade.cli.usage import CommandLineError
from enfilade.config import Config, StoreSection
from enfilade.layers.kinds import RECORDING

USER = "user"
"""Who asks where nobody says."""


def with_records(config: Config, options: AskOptions) -> Config:
    """The configuration; with `--record` or `--conversation` one that records, even where it says otherwise."""
    if not (options.record or options.conversation is not None):
        return config
    layers = config.layers
    if layers is not None:
        layers = tuple(
            entry.model_copy(update={"enabled": True}) if entry.kind == RECORDING else entry for entry in layers
        )
    return config.model_copy(update={"store": config.store or StoreSection(), "layers": layers})


def conversation_of(options: AskOptions) -> str | None:
    """The conversation that was named.

    Raises:
        CommandLineError: What was given is no name.
    """
    return _name(options.conversation, "--conversation: expected the conversation's id")


def user_of(options: AskOptions) -> str:
    """Who asks.

    Raises:
        CommandLineError: What was given is no name.
    """
    return _name(options.user, "--user: expected the user's id") or USER


def _name(given: str | None, expected: str) -> str | None:
    if given is not None and (not given.strip() or not is_utf8(given)):
        raise CommandLineError(f"{expected}, UTF-8 text that is not blank")
    return given
