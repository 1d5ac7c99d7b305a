"""Plugins by what a user calls them: a strategy, a plugin, or a class in the current folder."""

from dataclasses import replace

from enfilade.candidate import Candidate, Isolation, Offer, plugin_key
from enfilade.cli.usage import CommandLineError
from enfilade.config import Config
from enfilade.discovery.configured import configured_candidates
from enfilade.discovery.entry_points import installed_candidates
from enfilade.discovery.managed import managed_candidates
from enfilade.environments.installed import InstalledPlugins
from enfilade.errors import StrategyNotFoundError, near_matches
from enfilade.settings.current_folder import current_folder


def discovered(config: Config) -> list[Candidate]:
    """Every installed or configured plugin that hosts use; nothing of one runs.

    Raises:
        EnfiladeError: The installed ones cannot be listed, or not be used as they are configured.
    """
    return beside_the_host(config) + managed_candidates(config.plugins, InstalledPlugins().entries())


def beside_the_host(config: Config) -> list[Candidate]:
    """The plugins without environments of their own: those in the host's, and those that the configuration names."""
    return installed_candidates(config.plugins, config.isolation) + configured_candidates(config.plugins)


def is_target(name: str) -> bool:
    """Whether a name is that of a class: `module:Class`, `file.py:Class`; or of a file, where the class is missing."""
    return ":" in name or name.endswith(".py")


def target_candidate(target: str, isolation: Isolation = "process") -> Candidate:
    """The plugin that a class makes, its module looked for in the current folder (or the file's) first.

    Raises:
        CommandLineError: The text has another form, or there is no such file.
        ConfigError: The current folder is not there any more.
    """
    module, _, attribute = target.partition(":")
    folder = current_folder()
    if module.endswith(".py"):
        file = folder / module
        if not file.is_file():
            raise CommandLineError(f"there is no file {module}; expected FILE.py:Class or module:Class")
        module, folder = file.stem, file.parent
    if not module or not all(part.isidentifier() for part in f"{module}.{attribute}".split(".")):
        raise CommandLineError(f"expected module:Class or FILE.py:Class, got {target!r}")
    return Candidate(
        plugin=target,
        origin=str(folder),
        offers=(Offer(target, f"{module}:{attribute}"),),
        isolation=isolation,
        paths=(str(folder),),
    )


def candidates_named(name: str, config: Config) -> list[Candidate]:
    """The plugins that offer a strategy of that name, or are called so, or the one that a class makes.

    A plugin that only itself can say what it offers is among them when none else is; so is one that was disabled.

    Raises:
        StrategyNotFoundError: There is none; the text lists near matches.
        EnfiladeError: The installed plugins cannot be listed, or not be used as they are configured.
        CommandLineError: It looks like a class and is none.
    """
    if is_target(name):
        return [target_candidate(name)]
    found = discovered(config)
    offering, named = _of_name(name, found)
    if not (offering or named):
        offering, named = _of_name(name, _disabled())
    silent = [candidate for candidate in found if not candidate.offers]
    if not (offering or named or silent):
        known = {offer.name for candidate in found for offer in candidate.offers} | {c.plugin for c in found}
        raise StrategyNotFoundError(f"there is no strategy or plugin {name!r}; {near_matches(name, known)}")
    return offering or named or silent


def _of_name(name: str, candidates: list[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Those that offer a strategy of that name, and those that are called so."""
    offering = [candidate for candidate in candidates if any(offer.name == name for offer in candidate.offers)]
    return offering, [candidate for candidate in candidates if plugin_key(candidate.plugin) == plugin_key(name)]


def _disabled() -> list[Candidate]:
    entries = [replace(entry, enabled=True) for entry in InstalledPlugins().entries() if not entry.enabled]
    return managed_candidates({}, entries)
