"""A process that is in the middle of adding: `python -m tests.knowledge.adding_process FILE PATH`.

It says `half` on stdout when half of the files are in, and waits for its end.
"""

import asyncio
import sys
from pathlib import Path

from enfilade.tools.knowledge.adding import Addition
from enfilade.tools.knowledge.finding import files_of
from enfilade.tools.knowledge.index import Index
from enfilade.tools.knowledge.settings import KnowledgeSettings


def main() -> None:
    """Adds the first half."""
    file, path = Path(sys.argv[1]), sys.argv[2]

    def progress(done: int, total: int, name: str) -> None:
        del name
        if done == total // 2:
            print("half", flush=True)
            sys.stdin.read()

    index = Index.make("docs", file)
    asyncio.run(Addition(index, KnowledgeSettings(), progress=progress).run(files_of([path], Path.cwd())))


if __name__ == "__main__":
    main()
