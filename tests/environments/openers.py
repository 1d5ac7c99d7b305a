"""Opening a plugin by importing its classes in its own interpreter."""

import asyncio
from collections.abc import Sequence

from enfilade.candidate import Candidate
from enfilade.errors import LaunchError
from enfilade_sdk.contract import StrategyDescription

_IMPORT = """
import importlib, json, sys
for target in sys.argv[1:]:
    module, _, name = target.partition(":")
    getattr(importlib.import_module(module), name)().get_parameters()
"""


async def import_opener(candidate: Candidate) -> Sequence[StrategyDescription]:
    """Imports the strategies' classes where they are installed, without the SDK."""
    targets = [offer.target for offer in candidate.offers]
    process = await asyncio.create_subprocess_exec(
        candidate.python, "-I", "-B", "-c", _IMPORT, *targets, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    if process.returncode:
        raise LaunchError(f"plugin {candidate.plugin!r} did not start: {errors.decode().splitlines()[-1]}")
    return [StrategyDescription(name=offer.name) for offer in candidate.offers]
