"""What a sandbox adds to a start and to a run."""

import time

from benchmarks.figure import Figure, middle, milliseconds
from benchmarks.guest import NoHatch, invocation, read_all, started_guest
from enfilade.isolation.sandbox.machine import bubblewrap, this_machine
from enfilade.sandboxing import Profile, Sandboxing

STARTS, RUNS = 15, 300


async def sandboxes() -> list[Figure]:
    """Starts and runs under each profile, taken in turns."""
    this_machine()  # once a process, and not part of a start
    profiles: list[Profile] = ["none", "standard"]
    if bubblewrap()[0]:
        profiles.append("strict")
    starts: dict[Profile, list[float]] = {profile: [] for profile in profiles}
    runs: dict[Profile, list[float]] = {profile: [] for profile in profiles}
    for _ in range(STARTS):
        for profile in profiles:
            begun = time.perf_counter()
            async with started_guest(Sandboxing(profile)) as guest:
                starts[profile].append(time.perf_counter() - begun)
                for number in range(RUNS // STARTS + 5):
                    begun = time.perf_counter()
                    await read_all(guest, invocation("one-message", "hello"), NoHatch())
                    if number >= 5:
                        runs[profile].append(time.perf_counter() - begun)
    figures = []
    for profile in profiles[1:]:
        added = middle(starts[profile]) - middle(starts["none"])
        aim = ("5 ms or less", added <= 0.005) if profile == "standard" else ("", None)
        figures.append(Figure(f"{profile} sandbox: added to a start", milliseconds(added), "", None, *aim))
        ratio = middle(runs[profile]) / middle(runs["none"])
        beside = f"without: {milliseconds(middle(runs['none']))}"
        figures.append(
            Figure(f"{profile} sandbox: one-message run", milliseconds(middle(runs[profile])), beside, ratio)
        )
    return figures
