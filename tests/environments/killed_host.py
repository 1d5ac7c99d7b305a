"""A host that adds a plugin and tells each step: `python -m tests.environments.killed_host ROOT WHEELS SDK SPEC`."""

import asyncio
import sys
from pathlib import Path

from enfilade.environments.order import Step
from enfilade.environments.sdk import Sdk
from enfilade.environments.sources import Sources
from enfilade.environments.store import PluginStore
from tests.environments.openers import import_opener


def tell(step: Step) -> None:
    """Prints a step and waits to be told to go on; whoever wants it dead kills it meanwhile."""
    print(step.name, flush=True)
    sys.stdin.readline()


async def main(root: str, wheels: str, sdk: str, spec: str) -> None:
    """Adds a plugin, or updates it when it is there."""
    sources = Sources((wheels,), no_index=True, offline=True)
    store = PluginStore(Path(root), sources, sdk=Sdk("enfilade-sdk<=0.1.0", Path(sdk)))
    if store.entries():
        await store.update("greeter", import_opener, spec=spec, progress=tell)
    else:
        await store.add(spec, import_opener, progress=tell)
    print("end", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
