import sys

import pytest

from tests.support.enfilade_command import Enfilade

HEAVY = ("grpc", "google.protobuf", "pydantic", "openai", "rich", "asyncio", "enfilade.host")


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("chat", "-h"), ("plugins", "check", "--help")])
async def test_help_loads_nothing_heavy(enfilade: Enfilade, words: tuple[str, ...]) -> None:
    program = f"""
import sys
from enfilade.cli import main
code = main({list(words)!r})
print([name for name in {HEAVY!r} if name in sys.modules], code, file=sys.stderr)
"""
    enfilade.program = (sys.executable, "-c", program)
    done = await enfilade()
    assert done.err == "[] 0\n"
    assert done.text.startswith("Usage: enfilade")


async def test_help_names_every_command(enfilade: Enfilade) -> None:
    done = await enfilade("--help")
    assert done.code == 0
    assert done.err == ""
    for name in ("run", "chat", "plugins", "models", "tools", "doctor"):
        assert f"\n  {name} " in done.text


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (
            ("run",),
            "--strategy --model --base-url --api-key-env --tool --instruction --max-iteration --param --agent",
        ),
        (("run",), "--isolation --timeout --json --verbose"),
        (("chat",), "--strategy --model --base-url --tool --param --agent --isolation"),
        (("plugins", "list"), "--json"),
        (("plugins", "info"), "--json"),
        (("plugins", "check"), "--json"),
        (("models",), "--json"),
        (("tools",), "--json"),
        (("doctor",), "--json"),
    ],
)
async def test_each_command_explains_its_options(enfilade: Enfilade, words: tuple[str, ...], options: str) -> None:
    done = await enfilade(*words, "--help")
    assert done.code == 0
    assert [option for option in options.split() if option not in done.text] == []


async def test_the_version_is_that_of_the_distribution(enfilade: Enfilade) -> None:
    done = await enfilade("--version")
    assert done.text.split()[0] == "enfilade"
    assert done.text.split()[1][0].isdigit()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nonsense",), "No such command 'nonsense'"),
        (("chta",), "No such command 'chta'. Did you mean 'chat'?"),
        (("run",), "Missing argument 'QUESTION'"),
        (("run", "q", "--nonsense"), "No such option"),
        (("run", "q", "--isolation", "vm"), "'vm' is not one of"),
        (("run", "q", "--timeout", "0"), "0"),
        (("run", "q", "--max-iteration", "-1"), "-1"),
        (("run", "q", "--max-iteration", "2.5"), "2.5"),
        (("run", "q", "-a", "missing.toml"), "missing.toml"),
        (("run", "two", "questions"), "questions"),
    ],
)
async def test_a_wrong_command_line_ends_with_2_and_says_why(
    enfilade: Enfilade, words: tuple[str, ...], said: str
) -> None:
    done = await enfilade(*words)
    assert done.code == 2
    assert said in done.err
    assert "Usage: enfilade" in done.err
    assert done.out == b""


async def test_a_wrong_command_line_still_ends_json_lines_with_an_outcome(enfilade: Enfilade) -> None:
    done = await enfilade("run", "q", "--json", "--max-iteration", "many")
    assert done.code == 2
    assert done.outcome["status"] == "failed"
    assert done.outcome["error"]["code"] == "invalid_params"
    assert "many" in done.outcome["error"]["message"]
