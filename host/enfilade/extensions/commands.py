"""Where the commands of `enfilade` are. Light, because its help reads this."""

from typing import Final

COMMANDS: Final = {
    "run": "enfilade.cli.commands.run:run",
    "chat": "enfilade.cli.commands.chat:chat",
    "runs": "enfilade.cli.commands.runs:runs",
    "approvals": "enfilade.cli.commands.approvals:approvals",
    "plugins": "enfilade.cli.commands.plugins:plugins",
    "models": "enfilade.cli.commands.models:models",
    "tools": "enfilade.cli.commands.tools:tools",
    "knowledge": "enfilade.cli.commands.knowledge:knowledge",
    "doctor": "enfilade.cli.commands.doctor:doctor",
}
"""The host's own, in the order in which help lists them."""
