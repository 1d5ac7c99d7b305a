"""`python -m benchmarks.peers [--write FILE]`: the same agent's work here and in other frameworks, side by side.

They are installed into an environment of their own (`requirements/peers.txt`), which needs uv and a package index.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figure import middle
from benchmarks.model_server import DELTAS, ROUNDS, model_server, script
from benchmarks.table import write_table

ROOT = Path(__file__).resolve().parents[2]
TURNS = 3
"""Each contender competes so often, in turn; medians are shown."""

CONTENDERS = {
    "Enfilade, isolated": "enfilade_host",
    "hand-written openai loop": "openai_loop",
    "openai-agents": "openai_agents",
    "pydantic-ai": "pydantic_agent",
    "LangGraph": "langgraph_agent",
}
BEGIN, END = "<!-- peers -->", "<!-- end of peers -->"
HEADER = (
    f"| {ROUNDS} rounds, {DELTAS} deltas | first answer | a run alone | its CPU | 50 at once | memory |\n"
    "|---|---|---|---|---|---|"
)


def main() -> None:
    """Lets all compete and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="a Markdown file with the two marks of the table in it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, model_server(script()) as url:
        python = _environment(Path(folder))
        figures: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
        for _ in range(TURNS):
            for name, module in CONTENDERS.items():
                own = sys.executable if module == "enfilade_host" else python
                figures[name].append(_compete(own, module, url))
    lines = [HEADER, *(_row(name, measured) for name, measured in figures.items())]
    print("\n".join(lines))
    if given.write:
        write_table(given.write, (BEGIN, END), lines)


def _environment(folder: Path) -> str:
    """The interpreter of a new environment with the other frameworks."""
    python = folder / "peers" / "bin" / "python"
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(python.parents[1])], check=True)
    pins = str(ROOT / "requirements" / "peers.txt")
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", str(python), "-r", pins], check=True)
    subprocess.run([str(python), "-m", "compileall", "-q", str(python.parents[1])], check=False)
    return str(python)


def _compete(python: str, module: str, url: str) -> dict[str, float]:
    command = [python, "-m", f"benchmarks.peers.{module}", url]
    variables = os.environ | {"STARTED": str(time.time())}
    done = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, check=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _row(name: str, measured: list[dict[str, float]]) -> str:
    of = {key: middle([figures[key] for figures in measured]) for key in measured[0]}
    return (
        f"| {name} | {of['first']:.2f} s | {of['wall'] * 1e3:.1f} ms | {of['cpu'] * 1e3:.1f} ms "
        f"| {of['rate']:.0f} runs/s | {of['memory'] / 1e6:.0f} MB |"
    )


if __name__ == "__main__":
    main()
