"""Strategies that do harm while they run."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Harm:
    def get_parameters(self) -> list[Any]:
        return []


class Works(Harm):
    def invoke(self) -> Iterator[str]:
        yield str(os.getpid())


class Waits(Harm):
    """Waits without end, and ends when it is told to."""

    def invoke(self) -> Iterator[str]:
        yield str(os.getpid())
        while True:
            time.sleep(0.01)
            yield ""


class Dies(Harm):
    def invoke(self) -> Iterator[str]:
        yield "about to die"
        time.sleep(0.1)  # so that the message is on its way
        print("last words", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGKILL)


class Segfaults(Harm):
    def invoke(self) -> Iterator[str]:
        yield "about to fall"
        time.sleep(0.1)  # so that the message is on its way
        ctypes.string_at(0)


class Exits(Harm):
    def invoke(self) -> Iterator[str]:
        yield "about to leave"
        time.sleep(0.1)  # so that the message is on its way
        os._exit(0)


class IgnoresSigterm(Harm):
    """Ignores SIGTERM, and every cancel."""

    def invoke(self) -> Iterator[str]:
        yield str(os.getpid())
        while True:
            time.sleep(1)


class Computes(Harm):
    """Holds the interpreter in C code for some seconds."""

    def invoke(self, *, params: dict[str, Any]) -> Iterator[str]:
        yield str(os.getpid())
        time.sleep(0.2)  # once it computes, nothing else runs here, so that even this message would wait
        end = time.monotonic() + params["seconds"]
        while time.monotonic() < end:
            re.match(r"(a+)+$", "a" * 24 + "b")
        yield "done"


class Spins(Harm):
    """Holds the interpreter for ever."""

    def invoke(self) -> Iterator[str]:
        yield str(os.getpid())
        time.sleep(0.2)
        re.match(r"(a+)+$", "a" * 64 + "b")


class Forks(Harm):
    """Leaves children behind: one by exec, one by fork."""

    def invoke(self) -> Iterator[str]:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        fork = os.fork()
        if fork == 0:
            time.sleep(60)
            os._exit(0)
        yield f"{os.getpid()} {child.pid} {fork}"
        while True:
            time.sleep(0.01)
            yield ""


class Escapes(Harm):
    """Starts a child in a session of its own, and a daemon that forked twice."""

    def invoke(self) -> Iterator[str]:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True, cwd="/")
        daemon = (
            "import os, sys, time\n"
            "if os.fork(): os._exit(0)\n"
            "os.setsid()\n"
            "if os.fork(): os._exit(0)\n"
            "print(os.getpid(), flush=True)\n"
            "time.sleep(60)\n"
        )
        started = subprocess.Popen([sys.executable, "-c", daemon], stdout=subprocess.PIPE)
        assert started.stdout is not None
        yield f"{os.getpid()} {child.pid} {int(started.stdout.readline())}"
        while True:
            time.sleep(0.01)
            yield ""


class FloodsOutput(Harm):
    def invoke(self, *, params: dict[str, Any]) -> Iterator[str]:
        yield "begun"
        line = b"x" * params["width"] + b"\n"
        end = time.monotonic() + params["seconds"]
        while time.monotonic() < end:
            os.write(params["descriptor"], line * 100)
        yield "done"


class LeavesFiles(Harm):
    def invoke(self) -> Iterator[str]:
        Path("left behind").write_text("x", encoding="utf-8")
        Path("deep/er").mkdir(parents=True)
        yield str(Path.cwd())
