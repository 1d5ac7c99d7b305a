"""Run every command of README.md as a newcomer would: in order, in one shell, in a fresh copy of the checkout.

Usage: readme_commands.py [--list] [README]

Commands are the fenced `sh` blocks. A block that stands right after a comment `<!-- not run: REASON -->` is listed and
not run. The first command that fails ends the run; its block and line are named.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 1500
FENCE = re.compile(r"^(?P<indent> {0,3})```sh[ \t]*\n(?P<code>.*?)^(?P=indent)```[ \t]*$", re.MULTILINE | re.DOTALL)
SKIP = re.compile(r"<!--\s*not run:\s*(?P<reason>(?:(?!-->).)*?)\s*-->\s*\Z", re.DOTALL)
# What a newcomer's shell does not have set: the settings of the environment that this check itself runs in.
OWN_VARIABLES = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "UV_PROJECT_ENVIRONMENT")


@dataclass(frozen=True)
class Block:
    """A fenced block of commands: where its code begins, the code, and why it is not run (None when it is)."""

    line: int
    code: str
    skip_reason: str | None


def blocks_of(text: str) -> list[Block]:
    """Return the `sh` blocks of a Markdown text in their order."""
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()]
        skip = SKIP.search(before)
        line = before.count("\n") + 2
        found.append(Block(line, match["code"], skip["reason"] if skip else None))
    return found


def script_of(blocks: list[Block]) -> str:
    """Return one bash script that runs the blocks, saying before each where it stands and at a failure what failed."""
    parts = ["set -e -o pipefail", "trap 'echo \"README.md, block at line $block: failed with status $?\" >&2' ERR"]
    for block in blocks:
        title = "\n".join(f"$ {line}" for line in block.code.rstrip().splitlines())
        parts.append(
            f"block={block.line}\ncat <<'END_OF_BLOCK'\n\n--- README.md, line {block.line}\n{title}\nEND_OF_BLOCK"
        )
        parts.append(block.code)
    return "\n".join([*parts, "echo; echo 'every README command ran'", ""])


def copy_checkout(target: Path) -> None:
    """Copy what git tracks, and what it would track, as it stands in the working tree."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for words in (["init", "--quiet"], ["add", "--all"]):  # a checkout, as a clone would be
        subprocess.run(["git", "-C", str(target), *words], check=True)


def run(script: str, folder: Path) -> int:
    """Run a bash script in a folder, in a session of its own, and return its exit status (124: it took too long)."""
    path = folder.parent / "readme_commands.sh"
    path.write_text(script)
    settings = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
    process = subprocess.Popen(
        ["bash", str(path)], cwd=folder, env=settings, stdin=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        print(f"README commands took more than {SECONDS} s", file=sys.stderr)
        return 124
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def main() -> int:
    """List or run the commands; return the exit status."""
    parser = argparse.ArgumentParser(description="Run every sh block of README.md in a fresh copy of the checkout.")
    parser.add_argument("--list", action="store_true", help="only print the commands")
    parser.add_argument("readme", nargs="?", type=Path, default=ROOT / "README.md")
    options = parser.parse_args()
    blocks = blocks_of(options.readme.read_text(encoding="utf-8"))
    runnable = [block for block in blocks if block.skip_reason is None]
    for block in blocks:
        if block.skip_reason is not None:
            print(f"not run: README.md, line {block.line}: {block.skip_reason}")
    if not runnable:
        print(f"{options.readme} has no sh block to run", file=sys.stderr)
        return 1
    script = script_of(runnable)
    if options.list:
        print(script)
        return 0
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "enfilade")
        folder.mkdir()
        copy_checkout(folder)
        return run(script, folder)


if __name__ == "__main__":
    sys.exit(main())
