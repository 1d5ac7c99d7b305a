"""Which settings hold for a plugin that is brought to life."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from enfilade.candidate import Candidate, Offer
from enfilade.config import Config
from enfilade.errors import ConfigError
from enfilade.extensions.launchers import Launchers
from enfilade.extensions.loading import Extensions
from enfilade.sandboxing import UNCONFINED, Sandboxing

SAILOR = Candidate("sea-trade", offers=(Offer("sailor", "sea_trade:Sailor"),), isolation="inprocess")


def told(
    config: Config, candidate: Candidate, caplog: pytest.LogCaptureFixture, level: int = logging.WARNING
) -> list[str]:
    with caplog.at_level(level, logger="enfilade.extensions.launchers"):
        Launchers(Extensions.installed().offer.launchers, config).runner(candidate)
    return caplog.messages


def test_settings_that_stand_under_a_strategys_name_are_told_of(caplog: pytest.LogCaptureFixture) -> None:
    config = Config.model_validate({"sandbox": "none", "plugins": {"sailor": {"network": True}}})
    (text,) = told(config, SAILOR, caplog)
    assert text.startswith("[plugins.sailor] holds for a plugin of that name, not for the strategy")
    assert text.endswith("it is offered by sea-trade, whose settings stand in [plugins.sea-trade]")


TRUSTED = {"sandbox": "none"}


def test_settings_under_the_plugins_own_name_are_not(caplog: pytest.LogCaptureFixture) -> None:
    config = Config.model_validate({"plugins": {"Sea_Trade": TRUSTED}})
    assert told(config, SAILOR, caplog) == []


def test_a_plugin_called_like_its_strategy_is_no_mistake(caplog: pytest.LogCaptureFixture) -> None:
    config = Config.model_validate({"plugins": {"sailor": TRUSTED}})
    assert told(config, Candidate("sailor", offers=SAILOR.offers, isolation="inprocess"), caplog) == []


def test_a_plugin_in_this_process_is_noted_where_only_the_default_would_confine_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert told(Config(), SAILOR, caplog, logging.INFO) == [
        "plugin 'sea-trade' runs in the host's own process, where no sandbox confines it"
    ]


@pytest.mark.parametrize(
    ("config", "asked"),
    [
        ({"sandbox": "strict"}, 'sandbox = "strict"'),
        ({"sandbox": "standard"}, 'sandbox = "standard"'),
        ({"sandbox_required": True}, "sandbox_required = true"),
        ({"plugins": {"Sea_Trade": {"sandbox": "strict"}}}, '[plugins.sea-trade] sandbox = "strict"'),
        ({"plugins": {"sea-trade": {"sandbox_required": True}}}, "[plugins.sea-trade] sandbox_required = true"),
        (
            {"sandbox": "none", "plugins": {"sea-trade": {"sandbox": "strict"}}},
            '[plugins.sea-trade] sandbox = "strict"',
        ),
        ({"plugins": {"sea-trade": {"memory": "1 GiB"}}}, "[plugins.sea-trade] memory"),
        ({"plugins": {"sea-trade": {"subprocess": False}}}, "[plugins.sea-trade] subprocess = false"),
    ],
)
def test_a_plugin_that_is_to_be_confined_is_refused_in_this_process(config: dict[str, Any], asked: str) -> None:
    launchers = Launchers(Extensions.installed().offer.launchers, Config.model_validate(config))
    with pytest.raises(ConfigError) as refused:
        launchers.runner(SAILOR)
    assert f"in the host's own process, where {asked} cannot hold" in str(refused.value)
    assert str(refused.value).endswith('set [plugins.sea-trade] sandbox = "none"')
    launchers.runner(replace(SAILOR, isolation="process"))


def test_a_candidate_that_brings_its_sandbox_is_refused_in_this_process(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ConfigError, match='where its sandbox "strict" cannot hold'):
        told(Config(), replace(SAILOR, sandboxing=Sandboxing("strict")), caplog)
    assert told(Config(sandbox="strict"), replace(SAILOR, sandboxing=UNCONFINED), caplog) == []


@pytest.mark.parametrize(
    "config",
    [
        {"sandbox": "none"},
        {"sandbox": "none", "sandbox_required": True},
        {"sandbox": "strict", "plugins": {"sea-trade": {"sandbox": "none"}}},
    ],
)
def test_a_plugin_whose_sandbox_is_none_runs_in_this_process_without_a_word(
    config: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert told(Config.model_validate(config), SAILOR, caplog) == []


def test_a_name_that_toml_does_not_take_bare_is_quoted() -> None:
    with pytest.raises(ConfigError, match=r'set \[plugins\."odd\.py:Odd"\] sandbox = "none"'):
        Launchers(Extensions.installed().offer.launchers, Config(sandbox="strict")).runner(
            Candidate("odd.py:Odd", offers=(Offer("odd.py:Odd", "odd:Odd"),), isolation="inprocess")
        )
