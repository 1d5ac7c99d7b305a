"""`enfilade run`."""

from typing import Any

import click

from enfilade.cli.lazy import call
from enfilade.cli.options import AskOptions, ask_options


@click.command(short_help="Ask an agent one question.")
@click.argument("question")
@ask_options
@click.option("--json", "json", is_flag=True, help="Print JSON Lines: each message, and last the outcome.")
def run(question: str, **given: Any) -> int:
    """Ask an agent one question; '-' reads it from standard input.

    The answer goes to standard output, everything else to standard error. The exit code is 0 when there is an answer,
    1 when the run failed, 2 when the command line is wrong, 130 after Ctrl-C.

    \b
    enfilade run "What is 12 * 7?" -t calculator
    enfilade run - -m qwen3 --base-url http://127.0.0.1:8000/v1 < question.txt
    """  # noqa: D301 - click's mark for lines that stay as they are
    return call("enfilade.cli.ask:ask", question, AskOptions(**given))
