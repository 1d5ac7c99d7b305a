"""Says on stdout what looks like the protocol, before and while it serves, and reads stdin."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

print("1|1|unix|/tmp/not-mine.sock|grpc|")
os.write(1, b"raw bytes \xff on descriptor 1\n")
subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)


class Prints:
    def get_parameters(self) -> list[Any]:
        return []

    def invoke(self) -> Iterator[str]:
        print("printed in the run")
        yield repr(sys.stdin.read())
