"""The `enfilade` command."""

from enfilade.cli.program import main as main
