"""What docs/operating.md shows is done: its commands in their order, its settings; its tables have every reason."""

import json
import re
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from enfilade.config import Config, PluginSettings
from enfilade.environments.errors import Reason
from enfilade.isolation.supervision.states import State
from enfilade.supervision import Supervision
from tests.environments.wheels import write_installed
from tests.operating.operator import Operator

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
TIDES = """
class Strategy:
    description = "Knows the tides."

    def get_parameters(self):
        return [{"name": "query", "type": "string"}]

    def invoke(self, *, params):
        yield "high tide is at 06:10"
"""


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    """Somebody whose tool finds the wheels of two versions, and of what the SDK needs, in a folder."""
    runtime = Path(tempfile.mkdtemp(prefix="docs-", dir="/tmp"))
    operator = Operator.in_folder(tmp_path, runtime, tmp_path / "parts", tmp_path / "cache")
    for name in ("pydantic", "grpcio", "protobuf"):
        write_installed(operator.parts, name)
    operator.write("tide-table", "1.0.0", files={"tide_table/strategy.py": TIDES})
    links = f"{operator.parts},{operator.wheels}"
    operator.command.environment |= {"UV_FIND_LINKS": links, "UV_OFFLINE": "1"}
    yield operator
    left = operator.command.left_behind()
    shutil.rmtree(runtime)
    assert left == []


def sessions() -> Iterator[tuple[list[str], list[str]]]:
    """Each command of the page with the lines that it is shown to print."""
    shown: list[str] = []
    command: list[str] = []
    for line in [line for kind, text in BLOCKS if kind == "console" for line in text.splitlines()] + ["$ end"]:
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = shlex.split(line)[2:], []
        else:
            shown.append(line)


def fits(shown: list[str], printed: str) -> bool:
    """Whether the lines are printed in this order; `...` stands for anything."""
    pattern = ".*\n".join(re.escape(line).replace(r"\.\.\.", ".*") for line in shown)
    return re.search(pattern, printed, re.DOTALL) is not None


@pytest.mark.timeout(180)
async def test_the_commands_do_what_the_page_shows(operator: Operator) -> None:
    done = []
    for words, shown in sessions():
        if "update" in words:
            operator.write("tide-table", "1.1.0", files={"tide_table/strategy.py": TIDES})
        ended = await operator.command(*words)
        assert ended.code == 0, ended.err
        assert fits(shown, ended.err + ended.text), (shown, ended.err + ended.text)
        done.append(words[1])
    assert {"add", "list", "info", "check", "update", "disable", "enable", "remove", "logs", "status"} <= set(done)
    assert operator.environments() == set()


def test_the_settings_are_valid() -> None:
    texts = [text for kind, text in BLOCKS if kind == "toml"]
    first, second = (Config.model_validate(tomllib.loads(text)).plugins["tide-table"] for text in texts)
    assert first.start_timeout == 20.0
    assert second.supervision == Supervision(workers=2, max_runs=50, queue=20, idle_stop=600)


def test_every_setting_of_supervision_and_every_state_has_a_row() -> None:
    table = PAGE.partition("## Processes and limits")[2].partition("## States")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", table, re.MULTILINE))
    assert rows.keys() == {known.name for known in fields(Supervision)} | {"start_timeout"}
    for name, told in rows.items():
        default = PluginSettings.model_fields[name].get_default() or getattr(Supervision(), name)
        shown = json.dumps(default)
        assert told.startswith(f"`{shown}`" if isinstance(default, str) else shown.removesuffix(".0")), name
    table = PAGE.partition("## States")[2].partition("## Debugging")[0]
    assert re.findall(r"^\| (\w+) \|", table, re.MULTILINE) == ["state", *State]


def test_every_reason_has_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .", PAGE.partition("## What the messages mean")[2], re.MULTILINE)
    assert sorted(reason.value for reason in Reason) == sorted(rows)


def test_the_messages_are_in_the_code() -> None:
    """Every quoted beginning of a message, as far as it has no gap, stands in the host's code."""
    code = "".join(path.read_text() for path in (Path(__file__).parents[2] / "host").rglob("*.py"))
    code = re.sub(r'"\s*\n\s*f?"', "", code)
    table = PAGE.partition("## What the messages mean")[2]
    quoted = [text for row in re.findall(r"^\| .*$", table, re.MULTILINE) for text in re.findall(r"`([^`]+)`", row)]
    parts = [part.strip() for text in quoted for part in text.split("...") if len(part.strip().split()) > 3]
    missing = [part for part in parts if part not in code and not re.search(r"'[xp]'|\d\.\d", part)]
    assert len(parts) > 12
    assert missing == []
