"""The examples of docs/telemetry.md are run as they stand there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from enfilade.config import load_config
from enfilade.extensions.loading import Extensions
from enfilade.host import Host
from enfilade.telemetry import names
from enfilade.telemetry.settings import TelemetrySettings
from tests.layers.documents import DOCS, blocks

PAGE = "telemetry.md"
SAID = {
    "traced.py": "84",
    "metrics.py": 'enfilade_runs_total{enfilade_plugin="enfilade-fc",enfilade_run_status="succeeded",'
    'gen_ai_agent_name="function-calling"} 1',
    "application.py": "chat demo\nexecute_tool calculator\nchat demo\ninvoke_agent function-calling\nrequest\n",
    "logged.py": '"message": "asked for Oban", "run_id": ',
}


@pytest.mark.parametrize("name", SAID)
def test_every_program_says_what_it_should(name: str, tmp_path: Path) -> None:
    [block] = [block for block in blocks(PAGE, "python") if block.name == name]
    (tmp_path / name).write_text(block.text)
    done = subprocess.run([sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
    assert SAID[name] in done.stdout


def test_every_program_is_run() -> None:
    assert {block.name for block in blocks(PAGE, "python")} == SAID.keys()


@pytest.mark.parametrize("text", [block.text for block in blocks(PAGE, "toml")])
async def test_every_configuration_serves(text: str, tmp_path: Path) -> None:
    file = tmp_path / "enfilade.toml"
    file.write_text(text)
    host = Host(load_config(file, {}), candidates=[], extensions=Extensions())
    await host.aclose()


def test_the_command_of_the_page_answers(tmp_path: Path) -> None:
    [block] = blocks(PAGE, "sh")
    variables = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", block.text], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.returncode, "84" in done.stdout) == (0, True), done.stderr


def test_the_tables_have_every_setting_and_every_metric() -> None:
    text = (DOCS / PAGE).read_text()
    assert all(f"| `{name}` |" in text for name in TelemetrySettings.model_fields)
    metrics = [value for name, value in vars(names).items() if name.endswith("_METRIC")]
    assert len(metrics) == 7
    assert all(f"| `{name}` |" in text for name in metrics)


def test_the_line_of_the_log_is_one() -> None:
    [line] = [block.text for block in blocks(PAGE, "text") if block.text.startswith("{")]
    assert json.loads(line).keys() == {"time", "level", "logger", "message", "run_id", "plugin"}
