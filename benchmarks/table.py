"""A table of figures in a Markdown file."""

import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import grpc


def write_table(path: Path, marks: tuple[str, str], lines: Sequence[str]) -> None:
    """Puts the lines between the file's two marks, under the machine they are from."""
    begin, end = marks
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    machine = f"CPython {platform.python_version()}, grpcio {grpc.__version__}, {sys.platform} {platform.machine()}"
    table = "\n".join([begin, "", machine, "", *lines, "", end])
    path.write_text(before + table + after, encoding="utf-8")
