"""The README's commands are run as they stand there: in order, in one shell, and none is passed over in silence."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "readme_commands.py"


def run_readme(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    readme = folder / "README.md"
    readme.write_text(text, encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(readme)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


def test_blocks_share_one_shell_and_run_in_order(tmp_path: Path) -> None:
    done = run_readme(tmp_path, '```sh\nexport WORD=first\n```\ntext\n```sh\necho "it is $WORD"\n```\n')
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("it is first\n\nevery README command ran\n")


def test_commands_run_in_a_copy_of_the_checkout_and_not_in_it(tmp_path: Path) -> None:
    done = run_readme(tmp_path, "```sh\nls pyproject.toml\npwd\n```\n")
    assert done.returncode == 0, done.stderr
    assert "\npyproject.toml\n" in done.stdout
    assert str(SCRIPT.parents[1]) not in done.stdout


def test_the_first_failing_command_ends_the_run_and_names_its_block(tmp_path: Path) -> None:
    done = run_readme(tmp_path, "# title\n\n```sh\nfalse\necho reached\n```\n")
    assert done.returncode == 1
    assert "\nreached\n" not in done.stdout
    assert "block at line 4: failed with status 1" in done.stderr


def test_a_block_marked_not_run_is_listed_with_its_reason(tmp_path: Path) -> None:
    text = "<!-- not run: it needs a key -->\n```sh\nfalse\n```\n```sh\necho done\n```\n"
    done = run_readme(tmp_path, text)
    assert done.returncode == 0, done.stderr
    assert "not run: README.md, line 3: it needs a key" in done.stdout


def test_a_mark_holds_for_the_block_right_after_it_only(tmp_path: Path) -> None:
    done = run_readme(tmp_path, "<!-- not run: no -->\n\ntext between\n\n```sh\nfalse\n```\n")
    assert done.returncode == 1


def test_blocks_of_other_languages_are_not_commands(tmp_path: Path) -> None:
    done = run_readme(tmp_path, "```python\nraise SystemExit(1)\n```\n```sh\ntrue\n```\n")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", ["no commands here\n", "<!-- not run: all of it -->\n```sh\ntrue\n```\n"])
def test_a_readme_without_a_command_to_run_is_a_fault(tmp_path: Path, text: str) -> None:
    done = run_readme(tmp_path, text)
    assert done.returncode == 1
    assert "no sh block to run" in done.stderr
