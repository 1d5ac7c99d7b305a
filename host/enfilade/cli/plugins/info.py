"""`enfilade plugins info`: what a strategy says of itself."""

from typing import Any

from enfilade.cli.candidates import candidates_named
from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.plugins.opening import OpenedPlugin, open_plugins
from enfilade.cli.screen import Screen
from enfilade.config import load_config
from enfilade.errors import StrategyNotFoundError, near_matches
from enfilade_sdk.contract import StrategyDescription
from enfilade_sdk.parameters import AgentStrategyParameter, parameters_schema
from enfilade_sdk.parameters.localized import ENGLISH, in_language, localized


def show(name: str, as_json: bool, verbose: bool) -> int:
    """Opens the plugin and prints what its strategy says, its parameters first of all.

    Raises:
        EnfiladeError: There is nothing of that name, it cannot be opened, or it does not fit the contract.
    """
    config = load_config()
    candidates = candidates_named(name, config)
    screen = Screen.claim()
    found = _of_name(name, open_plugins(config, candidates, screen, verbose=verbose))
    for _, description in found:
        description.check_admitted()
    if as_json:
        forms = [_form(plugin, description) for plugin, description in found]
        screen.say(json_text(forms[0] if len(forms) == 1 else forms, indent=2) + "\n")
    else:
        screen.say("\n".join(_text(plugin, description) for plugin, description in found))
    return DONE


def _of_name(name: str, plugins: list[OpenedPlugin]) -> list[tuple[OpenedPlugin, StrategyDescription]]:
    """The strategies of that name, or all of the plugin that has it."""
    for plugin in plugins:
        if plugin.error is not None:
            raise plugin.error
    every = [(plugin, description) for plugin in plugins for description in plugin.descriptions]
    found = [(plugin, d) for plugin, d in every if name in {d.name, plugin.candidate.plugin}]
    if not found:
        raise StrategyNotFoundError(f"there is no strategy {name!r}; {near_matches(name, [d.name for _, d in every])}")
    return [(plugin, d) for plugin, d in found if d.name == name] or found


def _text(plugin: OpenedPlugin, description: StrategyDescription) -> str:
    candidate = plugin.candidate
    lines = [description.name, *_about(description), ""]
    lines.append(f"plugin:     {candidate.plugin} {candidate.version}".rstrip())
    lines.append(f"origin:     {candidate.origin}")
    lines.append(f"isolation:  {candidate.isolation}")
    if description.features:
        lines.append(f"features:   {', '.join(description.features)}")
    lines += ["", "parameters:" if description.parameters else "no parameters"]
    for parameter in description.parameters:
        lines.append(f"  {parameter.name}  {', '.join(_rules(parameter))}")
        if help_ := in_language(parameter.help, ENGLISH):
            lines.append(f"      {help_}")
    return "\n".join(lines) + "\n"


def _about(description: StrategyDescription) -> list[str]:
    texts = (in_language(localized(text), ENGLISH) for text in (description.label, description.description) if text)
    return [text for text in texts if text]


def _rules(parameter: AgentStrategyParameter) -> list[str]:
    rules = [parameter.type.value]
    if parameter.required:
        rules.append("required")
    if parameter.default is not None:
        rules.append(f"default {json_text(parameter.default)}")
    if parameter.choices:
        rules.append(f"{'some' if parameter.multiple else 'one'} of {', '.join(parameter.choices)}")
    if parameter.min is not None:
        rules.append(f"at least {parameter.min:g}")
    if parameter.max is not None:
        rules.append(f"at most {parameter.max:g}")
    if parameter.precision is not None:
        rules.append(f"{parameter.precision} decimal places" if parameter.precision else "whole")
    return rules


def _form(plugin: OpenedPlugin, description: StrategyDescription) -> dict[str, Any]:
    candidate = plugin.candidate
    about = description.model_dump(mode="json", exclude={"parameters", "faults"})
    return {
        **about,
        "plugin": candidate.plugin,
        "version": candidate.version or None,
        "origin": candidate.origin,
        "isolation": candidate.isolation,
        "parameters": [parameter.model_dump(mode="json") for parameter in description.parameters],
        "schema": parameters_schema(description.parameters),
    }
