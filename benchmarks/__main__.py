"""`python -m benchmarks [NAME ...] [--write FILE]`: measures, prints the table, writes it between the file's marks."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks import (
    agent_run,
    cancellation,
    cot_parser,
    crowd,
    installed,
    knowledge,
    lag,
    overhead,
    recorded,
    records,
    sandbox,
    supervision,
    tools,
    transport,
)
from benchmarks.figure import HEADER, Figure
from benchmarks.table import write_table

BENCHMARKS: dict[str, Callable[[], Awaitable[list[Figure]]]] = {
    "start": transport.start_and_memory,
    "one-message": transport.one_message,
    "messages": transport.many_messages,
    "chunks": transport.forwarded_chunks,
    "crowd": crowd.crowd,
    "supervision": supervision.supervision,
    "cancellation": cancellation.cancellation,
    "sandbox": sandbox.sandboxes,
    "lag": lag.token_lag,
    "tools": tools.slow_tools,
    "agent": agent_run.agent_run,
    "installed": installed.installed_plugins,
    "overhead": overhead.overhead,
    "records": records.records,
    "recorded": recorded.recorded,
    "knowledge": knowledge.knowledge,
    "parser": cot_parser.figures,
}
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def main() -> None:
    """Measures what was named, everything when nothing was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(BENCHMARKS)}")
    parser.add_argument("--write", type=Path, help="a Markdown file with the two marks of the table in it")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}")
    lines = [HEADER]
    print(HEADER, flush=True)
    for name in given.names or BENCHMARKS:
        for figure in asyncio.run(_measured(BENCHMARKS[name])):
            print(figure.row(), flush=True)
            lines.append(figure.row())
    if given.write:
        write_table(given.write, (BEGIN, END), lines)


async def _measured(benchmark: Callable[[], Awaitable[list[Figure]]]) -> list[Figure]:
    return await benchmark()


if __name__ == "__main__":
    main()
