"""`python -m tests.support.doomed_host [PROFILE [thread]]`: a host with busy guests, made to be killed.

Prints one line of JSON with the process ids of its guests and of what they started, then works on until it is killed.
"""

import asyncio
import json
import os
import sys
import threading
from typing import cast

import psutil

from enfilade.candidate import Candidate
from enfilade.config import Config
from enfilade.host import Host
from enfilade.sandboxing import Profile, Sandboxing
from enfilade_sdk.invocation import Invocation
from tests.support.faulty_guest import NO_FORK_HANDLERS, by_hand, offering
from tests.support.leftovers import alive
from tests.support.trial_hatch import TrialHatch
from tests.support.trial_run import text_of

ENDLESS = 10**6


def candidates(profile: Profile) -> list[Candidate]:
    confined = Sandboxing(profile)
    names = ("Waits", "Computes", "Forks", "Escapes")
    harm = [offering(f"at_run:{name}", sandboxing=confined, **NO_FORK_HANDLERS) for name in names]
    return [*harm, by_hand("ignores_sigterm", sandboxing=confined)]


async def main(profile: Profile) -> None:
    async with Host(Config(), candidates=candidates(profile)) as host:
        pids: set[int] = set()
        runs = []
        for name in ("Waits", "Computes", "Forks", "Escapes", "deaf"):
            admitted = await host.open(name)
            run = admitted.runner.run(Invocation(name, {"seconds": ENDLESS}), TrialHatch())
            words = text_of(await anext(run)).split()
            if profile != "strict":  # there they are the numbers of another namespace
                pids.update(int(word) for word in words if word.isdigit())
            runs.append(run)
        pids.update(process.pid for process in psutil.Process().children(recursive=True))
        sys.stdout.write(json.dumps({"host": os.getpid(), "pids": sorted(filter(alive, pids))}) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    chosen: Profile = "standard" if len(sys.argv) < 2 else cast(Profile, sys.argv[1])
    if "thread" in sys.argv:
        thread = threading.Thread(target=lambda: asyncio.run(main(chosen)))
        thread.start()
        thread.join()
    else:
        asyncio.run(main(chosen))
