"""What docs/knowledge.md shows is done: its commands in their order, its settings, its code; its messages are said."""

import re
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from enfilade.agent import AgentConfig
from enfilade.config import Config
from enfilade.tools.knowledge.formats.reading import FORMATS
from enfilade.tools.knowledge.retriever import Passage
from enfilade.tools.knowledge.settings import EmbeddingSettings, KnowledgeSettings
from tests.support.enfilade_command import Enfilade

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "knowledge.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
DOCUMENTS = {
    "fees.md": "# Fees\n## Mooring\nThe mooring fee is 14 pounds a night.\n## Showers\nA shower is one pound.\n",
    "rules.html": "<h1>Rules</h1><h2>Dogs</h2><p>Dogs are welcome on a lead.</p><h2>Noise</h2><p>Be quiet.</p>",
    "tides.txt": "潮水在早上六点十分最高。 High water is at ten past six.\n",
}


@pytest.fixture
def enfilade(tmp_path: Path) -> Iterator[Enfilade]:
    """The command in a folder with a handbook."""
    runtime = Path(tempfile.mkdtemp(prefix="docs-", dir="/tmp"))
    command = Enfilade(tmp_path, runtime)
    for name, text in DOCUMENTS.items():
        command.write(f"handbook/{name}", text)
    yield command
    left = command.left_behind()
    shutil.rmtree(runtime)
    assert left == []


def sessions() -> Iterator[tuple[list[str], list[str]]]:
    """Each command of the page with the lines that it is shown to print."""
    lines = [line for kind, text in BLOCKS if kind == "console" for line in text.splitlines()]
    starts = [place for place, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield shlex.split(lines[start])[2:], lines[start + 1 : end]


@pytest.mark.timeout(180)
async def test_the_commands_do_what_the_page_shows(enfilade: Enfilade) -> None:
    done = []
    for words, shown in sessions():
        ended = await enfilade(*words)
        assert ended.code == 0, ended.err
        printed = ended.err + ended.text
        pattern = "\n".join(re.escape(line).replace(r"\.\.\.", ".*") for line in shown)
        assert re.search(pattern, printed, re.DOTALL), (shown, printed)
        done.append(words[1] if words[0] == "knowledge" else words[0])
    assert done == ["add", "run", "list", "search", "search", "show", "add", "remove", "remove"]


def test_the_configuration_of_the_page_is_valid() -> None:
    config, agent = (tomllib.loads(text) for kind, text in BLOCKS if kind == "toml")
    bases = Config.model_validate(config).knowledge
    assert (bases["handbook"].way, bases["handbook"].results, bases["letters"].way) == ("words", 8, "hybrid")
    assert AgentConfig.model_validate(agent).tools[0].tool == "knowledge:handbook"


def test_every_setting_and_every_key_of_a_resource_stands_in_a_table() -> None:
    def named(section: str) -> set[str]:
        text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        return {name for row in rows for name in re.findall(r"`(\w+)`", row)}

    assert named("Settings") == {*KnowledgeSettings.model_fields, *EmbeddingSettings.model_fields}
    assert named("How parts are found") == set(Passage("1", "text", "doc").resource(1, "docs"))


def test_every_ending_of_documents_is_listed() -> None:
    assert set(re.findall(r"`(\.\w+)`", PAGE)) == set(FORMATS)


def test_the_messages_are_in_the_code() -> None:
    code = "".join(path.read_text() for path in (ROOT / "host" / "enfilade" / "tools" / "knowledge").rglob("*.py"))
    code = re.sub(r'"\s*\n\s*f?"', "", code)
    rows = re.findall(r"^\| is .*?\| (.*) \|$", PAGE, re.MULTILINE)
    messages = [text for row in rows for text in re.findall(r"`([^`]+)`", row)]
    assert len(messages) > 15
    assert [text for text in messages if text not in code and "0xe4" not in text] == []


def test_the_code_of_the_page_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    [own] = [text for kind, text in BLOCKS if kind == "python"]
    exec(compile(own, "knowledge.md", "exec"), {"__name__": "knowledge_page"})
    printed = capsys.readouterr().out
    assert "a walrus came to the pier\n\nSource: [1] logbook of 2 May" in printed
    assert printed.endswith("logbook of 2 May\n")
