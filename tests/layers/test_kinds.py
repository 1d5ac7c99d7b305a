from pathlib import Path
from typing import Any

import pytest

from enfilade.config import LayerSettings, load_config
from enfilade.errors import ConfigError
from enfilade.extensions.loading import Extensions
from enfilade.host import Host
from enfilade.layers.approval import Approval
from enfilade.layers.builtin import BUILTIN
from enfilade.layers.counts import MemoryCounts
from enfilade.layers.kind import Supplies
from enfilade.layers.kinds import LayerKinds
from enfilade.layers.layer import Layer
from enfilade.layers.limits import ExecutionLimits
from enfilade.layers.petition import AskRecord
from enfilade.layers.petitions import MemoryPetitions
from enfilade.layers.quota import Quota
from enfilade.layers.recording import Recording
from enfilade.models.gateway import ModelGateway
from enfilade.tools.functions.threads import Threads
from enfilade.tools.registry import SourceRegistry


@pytest.fixture
def supplies(tmp_path: Path) -> Supplies:
    return Supplies(ModelGateway({}), SourceRegistry(tmp_path, Threads(1)))


def build(supplies: Supplies, *entries: dict[str, Any]) -> list[Layer]:
    settings = tuple(LayerSettings.model_validate(entry) for entry in entries)
    return LayerKinds(BUILTIN).build(settings, supplies)


def test_layers_are_built_in_the_order_of_the_configuration(supplies: Supplies) -> None:
    built = build(supplies, {"kind": "costs"}, {"kind": "limits", "max_time": 5}, {"kind": "retry"})
    assert [layer.name for layer in built] == ["costs", "limits", "retry"]
    assert isinstance(built[1], ExecutionLimits)
    assert (built[1].max_time, built[1].max_steps) == (5.0, 500)


def test_a_layer_can_be_turned_off(supplies: Supplies) -> None:
    assert build(supplies, {"kind": "costs", "enabled": False}) == []


def test_without_a_word_there_are_limits_and_with_an_empty_list_nothing(supplies: Supplies) -> None:
    [limits] = LayerKinds(BUILTIN).build(None, supplies)
    assert isinstance(limits, ExecutionLimits)
    assert LayerKinds(BUILTIN).build((), supplies) == []


def test_every_fault_is_named_with_its_place(supplies: Supplies) -> None:
    with pytest.raises(ConfigError) as caught:
        build(
            supplies,
            {"kind": "limit"},
            {"kind": "retry"},
            {"kind": "limits", "max_step": 5, "max_time": -1},
            {"kind": "quota"},
            {"kind": "approval", "via": "post"},
        )
    assert caught.value.message == (
        "the layers of the configuration have 4 fault(s):"
        "\n  - [[layers]] number 1 (kind 'limit'): there is no such kind of layer; did you mean 'limits'? there are: "
        "approval, costs, limits, quota, recording, repetition, retry, telemetry"
        "\n  - [[layers]] number 3 (kind 'limits'): there is no option 'max_step'; did you mean 'max_steps' or "
        "'max_time' or 'max_cost'? there are: max_bytes, max_cost, max_steps, max_time, max_tokens; max_time: "
        "expected more than 0, found the number -1"
        "\n  - [[layers]] number 4 (kind 'quota'): give at least one of tokens, cost, calls, tool_calls"
        "\n  - [[layers]] number 5 (kind 'approval'): via: expected 'terminal' or 'record', got 'post'"
    )


def test_what_a_host_supplies_is_no_option(supplies: Supplies) -> None:
    with pytest.raises(ConfigError, match="there is no option 'counts'"):
        build(supplies, {"kind": "quota", "calls": 1, "counts": "mine"})
    with pytest.raises(ConfigError, match="there is no option 'ask'"):
        build(supplies, {"kind": "approval", "tools": ["*"], "ask": "mine"})


def test_layers_are_given_what_they_need(supplies: Supplies) -> None:
    counts, petitions = MemoryCounts(), MemoryPetitions()
    richer = Supplies(supplies.models, supplies.tools, counts=counts, petitions=petitions)
    quota, approval = build(
        richer, {"kind": "quota", "calls": 1}, {"kind": "approval", "tools": ["*"], "via": "record"}
    )
    assert isinstance(quota, Quota)
    assert quota.counts is counts
    assert isinstance(approval, Approval)
    assert isinstance(approval.ask, AskRecord)
    assert approval.ask.record is petitions


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"kind": "recording"}, "it needs a store, and this host has none"),
        ({"kind": "approval", "tools": ["*"], "via": "record"}, "needs a store that keeps petitions"),
        (
            {"kind": "costs", "currency": "EUR"},
            r"takes no options, got currency; prices are said in \[prices.MODEL\]",
        ),
    ],
)
def test_what_cannot_be_had_is_said(entry: dict[str, Any], text: str, supplies: Supplies) -> None:
    with pytest.raises(ConfigError, match=text):
        build(supplies, entry)


async def test_a_host_reads_its_layers_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "enfilade.toml"
    file.write_text(
        '[[layers]]\nkind = "recording"\n[[layers]]\nkind = "limits"\nmax_steps = 1\n'
        f'[store]\nurl = "sqlite:///{tmp_path}/records.db"\n'
    )
    host = Host(load_config(file, {}), candidates=[], extensions=Extensions())
    layers = host.layers
    await host.aclose()
    assert isinstance(layers[0], Recording)
    assert isinstance(layers[1], ExecutionLimits)
    assert not (tmp_path / "records.db").exists()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            'layers = [{kind = "limits", max_steps = "many"}]',
            "1 .kind 'limits'.: max_steps: expected a whole number, found the text 'many'",
        ),
        ("[[layers]]\nmax_steps = 3", r"layers.0.kind: it has to be set"),
        ('[store]\nkind = "paper"', r"\[store\] kind: there is no store 'paper'; .*sql"),
        ('[store]\nurl = "mysql://x"', r"\[store\] has 1 fault"),
        ("[prices.m]\ninput = -1\noutput = 1", r"prices.m.input: expected 0 or more, found the number -1"),
    ],
)
def test_a_configuration_that_does_not_serve_is_refused_at_the_start(text: str, fault: str, tmp_path: Path) -> None:
    file = tmp_path / "enfilade.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=fault):
        Host(load_config(file, {}), candidates=[], extensions=Extensions())


async def test_layers_given_in_python_take_the_place_of_the_configured_ones(tmp_path: Path) -> None:
    file = tmp_path / "enfilade.toml"
    file.write_text('[[layers]]\nkind = "limits"\n')
    host = Host(load_config(file, {}), candidates=[], layers=[], extensions=Extensions())
    assert host.layers == ()
    await host.aclose()
