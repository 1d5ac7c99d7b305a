"""The options that say which agent is asked, the same for `run` and `chat`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

_Declared = TypeVar("_Declared", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What was given on the command line; None and empty are not given.

    Attributes:
        strategy: A strategy's name, or `module:Class` of one in the current folder.
        model: A model's name.
        base_url: An OpenAI-compatible endpoint that has the model.
        api_key_env: The variable that holds the endpoint's key.
        tools: Specs of tools.
        mcp: Commands and addresses of MCP servers.
        instruction: The system message.
        max_iteration: Rounds in which tools may be called.
        params: `KEY=VALUE` texts.
        agent: An agent file.
        isolation: `process` or `inprocess`.
        timeout: Seconds for one question.
        record: Whether runs are recorded though nothing else asks for it.
        conversation: The conversation to go on with; its runs are recorded.
        reload: Whether the strategy is started anew when its files change.
        user: Who asks; None is `user`.
        verbose: Whether logs are shown.
        json: Whether JSON Lines are printed.
    """

    strategy: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    tools: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    instruction: str | None = None
    max_iteration: int | None = None
    params: tuple[str, ...] = ()
    agent: Path | None = None
    isolation: str | None = None
    timeout: float | None = None
    record: bool = False
    conversation: str | None = None
    reload: bool = False
    user: str | None = None
    verbose: bool = False
    json: bool = False


_TOOL_HELP = (
    "A tool the agent may call; repeatable. calculator, current_time, read_file:FOLDER, module:function, "
    "file.py:function, mcp:SERVER, openapi:FILE_OR_URL, or a name of 'enfilade tools'. Takes the place of the agent "
    "file's tools."
)

_OPTIONS = (
    click.option("-s", "--strategy", metavar="NAME", help="How the agent thinks: a name of 'enfilade plugins list', "
                 "'auto', or module:Class in the current folder."),
    click.option("-m", "--model", metavar="NAME", help="A name of 'enfilade models', or, with --base-url, the model's "
                 "name there."),
    click.option("--base-url", metavar="URL", help="An OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1; "
                 "needs no configuration."),
    click.option("--api-key-env", metavar="VARIABLE", help="The environment variable that holds the endpoint's key."),
    click.option("-t", "--tool", "tools", metavar="SPEC", multiple=True, help=_TOOL_HELP),
    click.option("--mcp", "mcp", metavar="COMMAND|URL", multiple=True, help="An MCP server whose tools the agent may "
                 "call; repeatable. A command line to start it, in quotes, or the address where it is."),
    click.option("-i", "--instruction", metavar="TEXT", help="What the agent is to be and do (the system message)."),
    click.option("--max-iteration", metavar="N", type=click.IntRange(min=0), help="Rounds in which tools may be "
                 "called; one more is kept for the answer."),
    click.option("-p", "--param", "params", metavar="KEY=VALUE", multiple=True, help="A parameter of the strategy; "
                 "repeatable. 'enfilade plugins info NAME' lists them."),
    click.option("-a", "--agent", metavar="FILE.toml", type=click.Path(exists=True, dir_okay=False, path_type=Path),
                 help="An agent file; what else is given here goes over it."),
    click.option("--isolation", type=click.Choice(["process", "inprocess"]), help="Where the strategy runs: in a "
                 "process of its own (the default), or in this one, for code you trust."),
    click.option("--timeout", metavar="SECONDS", type=click.FloatRange(min=0, min_open=True),
                 help="How long one question may take."),
    click.option("--record", is_flag=True, help="Write the run down; 'enfilade runs' shows it. Where the configuration "
                 "has a [store], every run is."),
    click.option("--conversation", metavar="ID", help="Go on with a conversation, or begin one: its earlier turns come "
                 "from the records. Implies --record."),
    click.option("--reload", is_flag=True, help="Start the strategy anew when its files change; 'run' then asks again, "
                 "until Ctrl-C. For authors."),
    click.option("--user", metavar="ID", help="Who asks: whose quota, conversations and records it is. Without it, "
                 "'user'."),
    click.option("-v", "--verbose", is_flag=True, help="Show the logs of the host and what plugins print."),
)  # fmt: skip


def ask_options(command: _Declared) -> _Declared:
    """Declares the options; the command gets each as a keyword of `AskOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
