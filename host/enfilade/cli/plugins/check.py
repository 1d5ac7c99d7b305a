"""`enfilade plugins check`: everything that speaks against a strategy."""

from typing import Any

from enfilade.cli.candidates import candidates_named
from enfilade.cli.exit_code import DONE, FAILED
from enfilade.cli.json_line import json_text
from enfilade.cli.plugins.opening import OpenedPlugin, open_plugins
from enfilade.cli.screen import Screen
from enfilade.config import load_config
from enfilade_sdk.contract import StrategyDescription


def show(name: str, as_json: bool, verbose: bool) -> int:
    """Opens the plugin isolated and prints its faults, or that it fits; gives 1 if it does not.

    Raises:
        EnfiladeError: There is nothing of that name.
    """
    config = load_config()
    candidates = candidates_named(name, config)
    screen = Screen.claim()
    plugins = open_plugins(config, candidates, screen, verbose=verbose, isolated=True)
    fits = all(plugin.error is None and not _faulty(plugin) for plugin in plugins)
    if as_json:
        screen.say(json_text([_form(plugin) for plugin in plugins], indent=2) + "\n")
    else:
        screen.say("".join(_text(plugin) for plugin in plugins))
    return DONE if fits else FAILED


def _faulty(plugin: OpenedPlugin) -> bool:
    return not plugin.descriptions or any(description.faults for description in plugin.descriptions)


def _text(plugin: OpenedPlugin) -> str:
    where = f"{plugin.candidate.plugin} {plugin.candidate.version}".strip()
    if plugin.error is not None:
        return f"{where} could not be opened: {plugin.error.message}\n(code: {plugin.error.code.value})\n"
    if not plugin.descriptions:
        return f"{where} offers no strategy\n"
    return "".join(_verdict(description, where) for description in plugin.descriptions)


def _verdict(description: StrategyDescription, where: str) -> str:
    name = description.name if description.name == where else f"{description.name} ({where})"
    if not description.faults:
        names = ", ".join(parameter.name for parameter in description.parameters) or "none"
        return f"{name} fits the contract; parameters: {names}\n"
    count = len(description.faults)
    lines = "".join(f"  - {fault}\n" for fault in description.faults)
    return f"{name} does not fit the contract, {count} fault{'' if count == 1 else 's'}:\n{lines}"


def _form(plugin: OpenedPlugin) -> dict[str, Any]:
    error = plugin.error
    return {
        "plugin": plugin.candidate.plugin,
        "version": plugin.candidate.version or None,
        "origin": plugin.candidate.origin,
        "fits": error is None and not _faulty(plugin),
        "error": None if error is None else {"code": error.code.value, "message": error.message},
        "strategies": [
            {"name": d.name, "fits": not d.faults, "faults": [fault.model_dump() for fault in d.faults]}
            for d in plugin.descriptions
        ],
    }
