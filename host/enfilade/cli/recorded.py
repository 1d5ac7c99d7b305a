"""Whether a command's runs are recorded, and in which conversation."""

from enfilade.cli.options import AskOptions
from enfilade.cli.question import is_utf8
from enfilade.cli.usage import CommandLineError
from enfilade.config import Config, StoreSection
from enfilade.layers.kinds import RECORDING


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
    name = options.conversation
    if name is None:
        return None
    if not name.strip() or not is_utf8(name):
        raise CommandLineError("--conversation: expected the conversation's id, UTF-8 text that is not blank")
    return name
