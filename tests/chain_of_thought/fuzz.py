"""Feeds the parser hostile replies for a while: `python tests/chain_of_thought/fuzz.py --seconds 30 [--seed 1]`.

Prints the first reply that breaks an invariant, with its seed, and ends with 1; else says how many were tried.
"""

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from enfilade_cot.labels import CHINESE, ENGLISH
from enfilade_cot.parser import MIN_OBJECT
from tests.chain_of_thought.invariants import Setting, check
from tests.chain_of_thought.replies import random_reply


def main() -> int:
    """Runs until the time is up or something breaks."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=30.0)
    arguments.add_argument("--seed", type=int, default=None, help="where to start; by default another one each time")
    given = arguments.parse_args()
    first = given.seed if given.seed is not None else int(time.time())
    end = time.monotonic() + given.seconds
    seed = first
    while time.monotonic() < end:
        rng = random.Random(seed)
        text = random_reply(rng)
        labels = ENGLISH + CHINESE if seed % 7 == 0 else ENGLISH
        setting = Setting(cut=seed % 3 == 0, labels=labels, max_object=MIN_OBJECT, thinking=seed % 11 == 0)
        try:
            check(text, rng, setting)
        except Exception as error:  # noqa: BLE001 - "never raises" is one of the invariants
            print(f"seed {seed}: {type(error).__name__}: {error}\nreply: {text!r}")
            return 1
        seed += 1
    print(f"{seed - first} replies from seed {first}: all invariants hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
