"""Servers that end, hang, or do not end."""

import os
import signal
import subprocess
import sys
import time

from tests.support.mcp_server.good import Good, Json, tool


class DiesAtStart(Good):
    """Ends before it says anything."""

    def begin(self) -> None:
        sys.stderr.write("no licence for this harbour\n")
        sys.exit(2)


class DiesOnce(Good):
    """Dies in its first call; started again, it lives and has another tool."""

    def begin(self) -> None:
        assert self._record is not None
        if self._record.exists():
            self.tools = [*self.tools, tool("second_life")]

    def call_quick(self, message: Json) -> None:
        if any(one["name"] == "second_life" for one in self.tools):
            self.text(message, "alive again")
        else:
            self.call_die(message)


class ClosesStdout(Good):
    """Lives on, but can say nothing any more."""

    def call_quick(self, message: Json) -> None:
        os.close(1)
        time.sleep(60)


class Hangs(Good):
    """Never answers."""

    def serve(self) -> None:
        sys.stderr.write("waiting for the tide\n")
        sys.stderr.flush()
        if self._record is not None:
            self._record.touch()
        time.sleep(600)


class Stubborn(Good):
    """Ignores the end of stdin and SIGTERM, and has a child that has left its process group."""

    def begin(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)

    def call_quick(self, message: Json) -> None:
        self.text(message, f"{os.getpid()} {self._child.pid}")

    def serve(self) -> None:
        super().serve()
        time.sleep(600)


class ReadsNothing(Good):
    """Stops reading after the list."""

    def on_tools_list(self, message: Json) -> None:
        super().on_tools_list(message)
        time.sleep(600)
