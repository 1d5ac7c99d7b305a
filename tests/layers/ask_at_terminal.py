"""Asks at the terminal about the calls named on the command line, all at once, and prints the decisions."""

import asyncio
import sys

from enfilade.layers.terminal import Terminal
from enfilade.petition import Petition


async def main(tools: list[str], seconds: float) -> None:
    terminal = Terminal()

    async def ask(tool: str) -> None:
        petition = Petition("i", "r", "ada", "p", "s", None, tool, "c", {"path": "a.txt"}, 0, 1)
        try:
            async with asyncio.timeout(seconds):
                decision = await terminal(petition)
        except TimeoutError:
            print(f"<{tool}: too late>", flush=True)
        else:
            print(f"<{tool}: {decision.allowed} {decision.arguments} {decision.reason!r}>", flush=True)

    await asyncio.gather(*(ask(tool) for tool in tools))


asyncio.run(main(sys.argv[2:], float(sys.argv[1])))
