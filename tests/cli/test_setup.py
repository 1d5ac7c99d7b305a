from pathlib import Path

import pytest

from enfilade.cli.candidates import discovered
from enfilade.cli.options import AskOptions
from enfilade.cli.setup import setup_of
from enfilade.cli.usage import CommandLineError
from enfilade.errors import ConfigError

AGENT = """
strategy = "function-calling"
model = "small"
prompt = "From the file."
max_iteration = 5
tools = ["calculator"]

[parameters]
last_round = "forbid"
"""
CONFIG = """
default_model = "small"
isolation = "inprocess"

[models.small]
name = "vendor/small-1"
base_url = "http://127.0.0.1:1/v1"
api_key_env = "SMALL_KEY"
vision = true

[plugins.enfilade-fc]
isolation = "inprocess"
start_timeout = 3.0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.fixture
def agent(folder: Path) -> Path:
    (folder / "agent.toml").write_text(AGENT)
    (folder / "enfilade.toml").write_text(CONFIG)
    return folder / "agent.toml"


def test_an_agent_file_is_taken_as_it_is(agent: Path) -> None:
    setup = setup_of(AskOptions(agent=agent))
    assert setup.agent.model == "small"
    assert setup.agent.prompt == "From the file."
    assert setup.agent.max_iteration == 5
    assert [entry.tool for entry in setup.agent.tools] == ["calculator"]
    assert setup.agent.parameters == {"last_round": "forbid"}


def test_options_go_over_the_agent_file(agent: Path) -> None:
    options = AskOptions(
        agent=agent,
        strategy="chain-of-thought",
        model="demo",
        instruction="From the line.",
        max_iteration=2,
        tools=("current_time", "read_file:."),
    )
    over = setup_of(options).agent
    assert over.strategy == "chain-of-thought"
    assert over.model == "demo"
    assert over.prompt == "From the line."
    assert over.max_iteration == 2
    assert [entry.tool for entry in over.tools] == ["current_time", "read_file:."]
    assert over.parameters == {"last_round": "forbid"}


def test_a_parameter_goes_over_the_same_thing_said_in_the_file(agent: Path) -> None:
    over = setup_of(AskOptions(agent=agent, params=("max_iteration=3", "instruction=x", "last_round=withdraw")))
    assert over.agent.max_iteration is None
    assert over.agent.prompt == ""
    assert over.agent.parameters == {}
    assert over.params == ("max_iteration=3", "instruction=x", "last_round=withdraw")


def test_an_option_goes_over_the_same_thing_said_as_a_parameter_in_the_file(folder: Path) -> None:
    (folder / "agent.toml").write_text("[parameters]\nmax_iteration = 4\ninstruction = 'x'\n")
    over = setup_of(AskOptions(agent=folder / "agent.toml", max_iteration=1, instruction="y")).agent
    assert (over.parameters, over.max_iteration, over.prompt) == ({}, 1, "y")


def test_tools_of_the_command_line_are_required() -> None:
    assert all(entry.required for entry in setup_of(AskOptions(tools=("calculator",))).agent.tools)


def test_a_model_at_a_url_needs_no_configuration() -> None:
    setup = setup_of(AskOptions(model="vendor/model-x", base_url="http://127.0.0.1:9/v1", api_key_env="K"))
    made = setup.config.models["vendor/model-x"]
    assert made.provider == "openai"
    assert made.base_url == "http://127.0.0.1:9/v1"
    assert made.api_key_env == "K"
    assert made.tools


def test_a_configured_model_at_another_url_keeps_all_else(agent: Path) -> None:
    made = setup_of(AskOptions(model="small", base_url="http://127.0.0.1:9/v1")).config.models["small"]
    assert made.base_url == "http://127.0.0.1:9/v1"
    assert made.name == "vendor/small-1"
    assert made.api_key_env == "SMALL_KEY"
    assert made.vision


def test_another_url_is_for_the_agents_model_where_none_is_named(agent: Path) -> None:
    assert setup_of(AskOptions(agent=agent, base_url="http://127.0.0.1:9/v1")).config.models["small"].base_url == (
        "http://127.0.0.1:9/v1"
    )


def test_another_key_is_for_a_configured_model(agent: Path) -> None:
    assert setup_of(AskOptions(model="small", api_key_env="OTHER")).config.models["small"].api_key_env == "OTHER"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (AskOptions(base_url="http://127.0.0.1:9/v1"), "give -m NAME"),
        (AskOptions(model="x", api_key_env="K"), "give --base-url URL"),
        (AskOptions(model="x", base_url="127.0.0.1:9"), "must start with http:// or https://, got '127.0.0.1:9'"),
        (AskOptions(strategy="a b:C"), "expected module:Class or FILE.py:Class, got 'a b:C'"),
        (AskOptions(strategy="missing.py:C"), "there is no file missing.py"),
        (AskOptions(strategy="missing.py"), "there is no file missing.py; expected FILE.py:Class"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: AskOptions, said: str) -> None:
    with pytest.raises(CommandLineError, match=r".") as caught:
        setup_of(options)
    assert said in caught.value.message


def test_isolation_goes_over_every_setting(agent: Path) -> None:
    setup = setup_of(AskOptions(isolation="process"))
    assert {candidate.isolation for candidate in discovered(setup.config)} == {"process"}
    assert setup.config.plugins["enfilade-fc"].start_timeout == 3.0
    assert {candidate.isolation for candidate in discovered(setup_of(AskOptions()).config)} == {"inprocess"}


def test_a_class_is_a_plugin_of_the_folder_it_is_in(folder: Path) -> None:
    (folder / "nested").mkdir()
    (folder / "nested" / "mine.py").write_text("class Mine: pass\n")
    candidate = setup_of(AskOptions(strategy="nested/mine.py:Mine")).candidates[-1]
    assert candidate.offers[0].name == "nested/mine.py:Mine"
    assert candidate.offers[0].target == "mine:Mine"
    assert candidate.paths == (str(folder / "nested"),)
    assert setup_of(AskOptions(strategy="nested.mine:Mine")).candidates[-1].paths == (str(folder),)


def test_faults_of_an_agent_file_are_named_with_their_places(folder: Path) -> None:
    (folder / "agent.toml").write_text('strategi = "x"\nmax_iteration = "many"\n')
    with pytest.raises(ConfigError) as caught:
        setup_of(AskOptions(agent=folder / "agent.toml"))
    assert "strategi" in caught.value.message
    assert "max_iteration" in caught.value.message


def test_a_faulty_configuration_names_file_and_place(folder: Path) -> None:
    (folder / "enfilade.toml").write_text("[models.a]\nbase_url = 'nowhere'\n")
    with pytest.raises(ConfigError, match=r"enfilade\.toml has 1 fault\(s\):\n  - models\.a\.base_url"):
        setup_of(AskOptions())
