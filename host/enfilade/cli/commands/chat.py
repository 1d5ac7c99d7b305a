"""`enfilade chat`."""

from typing import Any

import click

from enfilade.cli.lazy import call
from enfilade.cli.options import AskOptions, ask_options


@click.command(short_help="Talk with an agent in the terminal.")
@ask_options
def chat(**given: Any) -> int:
    """Talk with an agent; it remembers the conversation until you leave.

    Each line is a question. /reset forgets the conversation, /exit (or Ctrl-D) ends, /help lists the commands. Ctrl-C
    stops an answer, twice ends.
    """
    return call("enfilade.cli.conversation:chat", AskOptions(**given))
