"""The configuration: a file, overlaid by the environment."""

from pathlib import Path

import pytest

from enfilade.agent import AgentConfig, fill
from enfilade.config import Config, load_config
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


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('isolation = "vm"', "isolation: expected 'process' or 'inprocess', found the text 'vm'"),
        ("[plugins.x]\nadress = 'unix:/s'", "plugins.x.adress: there is no such setting; did you mean 'address'?"),
        ("[plugins.x]\ncommand = 'node x.js'", "plugins.x.command: expected a list, found a text"),
        ("[plugins.x]\nstart_timeout = -1", "plugins.x.start_timeout: expected more than 0, found the number -1"),
        ("[plugins.x]\naddress = 'http://x'", "plugins.x: address must start with unix: or grpcs://, got 'http://x'"),
        (
            "[plugins.x]\naddress = 'unix:/s'\nworkers = 2\nsandbox = 'none'\nheartbeat = 1.0",
            "plugins.x: sandbox, workers: not for a plugin at an address, whose process is not this host's",
        ),
        ("[limits]\nmessages = 1.5", "limits.messages: expected a whole number, found the number 1.5"),
        ("limits = 3", "limits: expected a table, found the number 3"),
        ("default_model = 3", "default_model: expected a text, found the number 3"),
        ("[models.m]\ntools = 'perhaps'", "models.m.tools: expected true or false, found the text 'perhaps'"),
        ("[[layers]]\nenabled = true", "layers.0.kind: it has to be set"),
        (
            "[plugins.x]\nmemory = 'lots'",
            "plugins.x.memory: expected a size such as 1048576 or \"512 MiB\", found the text 'lots'",
        ),
        ("[memory]\nwords = 3", "memory.words: there is no such setting; there are: messages, tokens"),
        ("colour = 'red'", "colour: there is no such setting; there are: default_model, default_strategy, "),
        ("[mcp.files]\nurl = 7\ncommand = 'x'", "mcp.files.url: expected a text, found the number 7"),
    ],
)
def test_a_fault_says_what_was_expected_and_what_came(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, content), {})
    assert f"\n  - {says}" in caught.value.message


def test_a_text_of_the_wrong_kind_is_not_shown_for_it_may_be_a_secret(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, '[mcp.files]\ncommand = "x"\nenv = "TOKEN=sesame"\n'), {})
    assert "mcp.files.env: expected a table, found a text" in caught.value.message
    assert "sesame" not in caught.value.message


def test_a_fault_of_a_variable_is_told_as_that_variable_s(tmp_path: Path) -> None:
    path = write(tmp_path, "[limits]\nmessages = 0\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path, {"ENFILADE_LIMITS__RUN_SECONDS": "soon"})
    assert "\n  - limits.messages: expected more than 0, found the number 0" in caught.value.message
    told = "limits.run_seconds (ENFILADE_LIMITS__RUN_SECONDS): expected a number, found the text 'soon'"
    assert f"\n  - {told}" in caught.value.message


@pytest.mark.parametrize("content", ['default_model = "m"\n', ""])
def test_a_variable_that_reaches_into_a_plain_setting_is_refused(tmp_path: Path, content: str) -> None:
    variables = {"ENFILADE_DEFAULT_MODEL": "m", "ENFILADE_DEFAULT_MODEL__X": "1"}
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, content), variables)
    says = "ENFILADE_DEFAULT_MODEL__X: the setting 'default_model' is no table, so nothing in it can be set"
    assert caught.value.message == says


def test_a_misspelt_variable_is_told_and_those_of_others_are_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    variables = {"ENFILADE_LIMIT__RUN_SECONDS": "3", "ENFILADE_DEFALT_MODEL": "m", "ENFILADE_HARBOUR": "x"}
    assert load_config(write(tmp_path, ""), variables | {"ENFILADE_PLUGINS_DIR": "/x"}) == Config()
    assert caplog.messages == [
        "ENFILADE_LIMIT__RUN_SECONDS is no setting and is not looked at; did you mean ENFILADE_LIMITS__RUN_SECONDS?",
        "ENFILADE_DEFALT_MODEL is no setting and is not looked at; did you mean ENFILADE_DEFAULT_MODEL?",
    ]


def test_a_variable_reaches_a_table_whose_name_no_variable_can_have(tmp_path: Path) -> None:
    path = write(
        tmp_path, '[plugins.Tide-Table]\nsandbox = "strict"\n[models."GPT-5.1"]\nname = "big"\n[models.gpt_5_1]\n'
    )
    variables = {"ENFILADE_PLUGINS__TIDE_TABLE__WORKERS": "2", "ENFILADE_MODELS__GPT_5_1__TIMEOUT": "9"}
    config = load_config(path, variables)
    assert {name: (chosen.sandbox, chosen.workers) for name, chosen in config.plugins.items()} == {
        "Tide-Table": ("strict", 2)
    }
    assert (config.models["GPT-5.1"].timeout, config.models["gpt_5_1"].timeout) == (120, 9)  # the very name wins


def test_a_fault_of_a_variable_is_told_where_the_file_has_the_table(tmp_path: Path) -> None:
    path = write(tmp_path, "[plugins.tide-table]\nqueue = 1\n")
    with pytest.raises(ConfigError, match=r"plugins\.tide-table\.workers \(ENFILADE_PLUGINS__TIDE_TABLE__WORKERS\)"):
        load_config(path, {"ENFILADE_PLUGINS__TIDE_TABLE__WORKERS": "none"})


def test_a_plugin_is_not_set_up_under_two_spellings_of_its_name(tmp_path: Path) -> None:
    path = write(tmp_path, '[plugins.tide-table]\nsandbox = "strict"\n[plugins.Tide_Table]\nworkers = 2\n')
    with pytest.raises(ConfigError, match="'tide-table' and 'Tide_Table' are one plugin"):
        load_config(path, {})


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("[models.m]\napi_key_env = 'sk-hush-1'", "models.m.api_key_env"),
        ("[models.m]\nheaders_env = { A = 'sk-hush-1' }", "models.m.headers_env.A"),
        ("[mcp.m]\ncommand = 'c'\nenv_from = ['sk-hush-1']", "mcp.m.env_from.0"),
        ("[mcp.m]\nurl = 'http://h/'\nheaders_env = { A = 'sk-hush-1' }", "mcp.m.headers_env.A"),
        ("[openapi.o]\ndocument = 'd'\nbearer_env = 'sk-hush-1'", "openapi.o.bearer_env"),
        ("[openapi.o]\ndocument = 'd'\nquery_env = { k = 'sk-hush-1' }", "openapi.o.query_env.k"),
        (
            "[knowledge.k.embedding]\nmodel = 'm'\nbase_url = 'http://h/v1'\napi_key_env = 'sk-hush-1'",
            "knowledge.k.embedding.api_key_env",
        ),
        ("[telemetry]\nheaders_env = { A = 'sk-hush-1' }", "telemetry.headers_env.A"),
    ],
)
def test_a_key_in_the_place_of_a_variable_s_name_is_refused_and_not_shown(
    tmp_path: Path, content: str, place: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, content), {})
    assert f"{place}: expected the name of an environment variable" in caught.value.message
    assert "hush" not in caught.value.message
