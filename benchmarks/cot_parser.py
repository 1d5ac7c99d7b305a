"""The chain-of-thought parser: throughput on small chunks, and whether a character costs the same in long replies.

`python -m benchmarks.cot_parser` prints the tables. CPU time, the fastest of several runs, for the machine is shared.
"""

import time
from collections.abc import Callable, Iterator

from benchmarks.figure import HEADER, Figure
from enfilade_cot.parser import Parser

PROSE = "The harbour office looks after the berths, and the fee is due at noon. A boat of ten metres pays 18 a night.\n"
TARGET = 2.0
"""MB/s on chunks of one character."""

LONGEST = 10_000_000
SIZES = (1_000, 10_000, 100_000, 1_000_000, LONGEST)
MOST_UNEVEN = 1.5
"""How much more a character may cost in one size than in another."""


def seconds(text: str, step: int, runs: int) -> float:
    """CPU time of parsing a reply in chunks of one length: the fastest run."""
    chunks = [text[at : at + step] for at in range(0, len(text), step)]
    best = float("inf")
    for _ in range(runs):
        parser = Parser(("search",))
        feed: Callable[[str], object] = parser.feed
        start = time.process_time()
        for chunk in chunks:
            feed(chunk)
        parser.finish()
        best = min(best, time.process_time() - start)
    return best


def filled(unit: str, size: int) -> str:
    """A text of that size out of one unit."""
    return (unit * (size // len(unit) + 1))[:size]


def throughput() -> Iterator[Figure]:
    """Kinds of text on chunks of 1 and of 20 characters."""
    prose = filled(PROSE, 200_000)
    escaped = prose.replace("\n", "\\n")
    texts = {
        "thought": prose,
        "answer": "Final Answer: " + prose,
        "answer in an object": '{"action": "Final Answer", "action_input": "' + escaped + '"}',
        "input in an object": 'Action: {"action": "search", "action_input": "' + escaped + '"}',
        "think block": "<think>" + prose + "</think>",
        "code block": "```text\n" + prose + "```",
    }
    for step in (1, 20):
        for name, text in texts.items():
            spent = seconds(text, step, runs=5)
            rate = len(text) / spent / 1e6
            each = spent / (len(text) / step) * 1e6
            aimed = step == 1
            target = f"{TARGET:g} MB/s or more" if aimed else ""
            met = rate >= TARGET if aimed else None
            yield Figure(f"{name}, chunks of {step}", f"{rate:.2f} MB/s, {each:.2f} us a chunk", target=target, met=met)


def flatness() -> Iterator[Figure]:
    """Nanoseconds a character in replies of 1 KB to 10 MB, in chunks of 20."""
    first = 0.0
    for size in SIZES:
        runs = max(3, min(200, 2_000_000 // size))
        each = seconds(filled(PROSE, size), 20, runs) / size * 1e9
        first = first or each
        ratio = each / first
        yield Figure(f"reply of {size:,} characters", f"{each:.1f} ns", "1,000", ratio, "flat", ratio <= MOST_UNEVEN)


def hostile() -> Iterator[Figure]:
    """Text made to be slow, 200 KB in chunks of one character, beside prose."""
    size = 200_000
    prose = seconds(filled(PROSE, size), 1, runs=3)
    units = (
        "{",
        "`",
        "Action",
        "Action\n",
        "Thought: ",
        '"',
        "\\",
        "<think>",
        "\n",
        ":",
        '{"a":\n',
        '{"action": x y\n',
    )
    for unit in units:
        spent = seconds(filled(unit, size), 1, runs=2)
        yield Figure(f"nothing but {unit!r}", f"{size / spent / 1e6:.2f} MB/s", "prose", spent / prose, "", None)


async def figures() -> list[Figure]:
    """Throughput and flatness, for the table of all benchmarks."""
    return [*throughput(), *flatness()]


def main() -> None:
    """Prints all tables."""
    for table in (throughput, flatness, hostile):
        print(f"\n{table.__doc__}\n\n{HEADER}")
        for figure in table():
            print(figure.row(), flush=True)


if __name__ == "__main__":
    main()
