"""Waiting for processes and files, with a bound."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import psutil


async def until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Waits for something that another process does and tells nobody."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        await asyncio.sleep(0.01)


def processes_naming(path: Path) -> list[psutil.Process]:
    """Processes whose command line has a path in it, or whose working directory is below it."""
    found = []
    for process in psutil.process_iter():
        try:
            line = " ".join(process.cmdline())
            if str(path) in line or process.cwd().startswith(str(path)):
                found.append(process)
        except psutil.Error:
            continue
    return [process for process in found if process.pid != psutil.Process().pid]
