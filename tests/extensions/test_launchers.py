"""Which settings hold for a plugin that is brought to life."""

import logging

import pytest

from enfilade.candidate import Candidate, Offer
from enfilade.config import Config
from enfilade.extensions.launchers import Launchers
from enfilade.extensions.loading import Extensions

SAILOR = Candidate("sea-trade", offers=(Offer("sailor", "sea_trade:Sailor"),), isolation="inprocess")


def told(config: Config, candidate: Candidate, caplog: pytest.LogCaptureFixture) -> list[str]:
    with caplog.at_level(logging.WARNING, logger="enfilade.extensions.launchers"):
        Launchers(Extensions.installed().offer.launchers, config).runner(candidate)
    return caplog.messages


def test_settings_that_stand_under_a_strategys_name_are_told_of(caplog: pytest.LogCaptureFixture) -> None:
    config = Config.model_validate({"plugins": {"sailor": {"network": True}}})
    (text,) = told(config, SAILOR, caplog)
    assert text.startswith("[plugins.sailor] holds for a plugin of that name, not for the strategy")
    assert text.endswith("it is offered by sea-trade, whose settings stand in [plugins.sea-trade]")


def test_settings_under_the_plugins_own_name_are_not(caplog: pytest.LogCaptureFixture) -> None:
    config = Config.model_validate({"plugins": {"Sea_Trade": {"network": True}}})
    assert told(config, SAILOR, caplog) == []


def test_a_plugin_called_like_its_strategy_is_no_mistake(caplog: pytest.LogCaptureFixture) -> None:
    config = Config.model_validate({"plugins": {"sailor": {"network": True}}})
    assert told(config, Candidate("sailor", offers=SAILOR.offers, isolation="inprocess"), caplog) == []
