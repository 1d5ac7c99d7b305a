"""The configuration: a file, overlaid by the environment."""

from pathlib import Path

import pytest

from enfilade.agent import AgentConfig, fill
from enfilade.config import load_config
from enfilade.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    path = folder / "enfilade.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_everything_has_a_default(tmp_path: Path) -> None:
    config = load_config(environment={"HOME": str(tmp_path)})
    assert (config.default_model, config.default_strategy, config.isolation) == ("demo", "function-calling", "process")


def test_the_environment_goes_over_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, 'default_model = "a"\n[models.a]\nbase_url = "http://one/v1"\n')
    variables = {"ENFILADE_MODELS__A__BASE_URL": "http://two/v1", "ENFILADE_LIMITS__RUN_SECONDS": "7.5"}
    config = load_config(path, variables)
    assert config.models["a"].base_url == "http://two/v1"
    assert config.limits.run_seconds == 7.5


def test_the_file_is_found_through_its_variable(tmp_path: Path) -> None:
    path = write(tmp_path, 'default_model = "named"\n')
    assert load_config(environment={"ENFILADE_CONFIG": str(path)}).default_model == "named"


def test_all_faults_of_a_file_are_named_with_their_places(tmp_path: Path) -> None:
    path = write(
        tmp_path, 'isolation = "jail"\n[plugins.x]\naddress = "http://x"\n[limits]\nmessages = 0\nmassages = 1\n'
    )
    with pytest.raises(ConfigError) as caught:
        load_config(path, {})
    for place in ("isolation", "plugins.x", "limits.messages", "limits.massages", str(path)):
        assert place in caught.value.message


@pytest.mark.parametrize(
    ("content", "says"), [(b"default_model = ", "not valid TOML"), (b"\xff\xfe", "UTF-8"), (None, "cannot read")]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "enfilade.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=says):
        load_config(path, {})


def test_an_agent_is_read_from_a_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'strategy = "auto"\nprompt = "You mind {{ place }}."\n'
        'tools = ["calculator", {tool = "read_file:.", fixed = {path = ""}}]\n'
        '[inputs]\nplace = "the {{pier}}"\n',
    )
    agent = AgentConfig.read(path)
    assert [entry.label for entry in agent.tools] == ["calculator", "read_file:."]
    assert agent.instruction() == "You mind the {{pier}}."


def test_an_agent_file_s_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="max_iteration"):
        AgentConfig.read(write(tmp_path, 'max_iteration = "many"\nstrategie = "x"\n'))


def test_values_are_filled_in_literally_and_once() -> None:
    values = {"a": "{{b}}", "b": "\\1 {{a}}", "n": 0}
    assert fill("{{a}} {{ b }} {{n}} {{unknown}} {a}", values) == "{{b}} \\1 {{a}} 0 {{unknown}} {a}"
