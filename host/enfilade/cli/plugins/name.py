"""What a name is that is not an installed plugin's: a strategy's, or that of a plugin beside the host."""

from enfilade.candidate import plugin_key
from enfilade.cli.candidates import beside_the_host, discovered
from enfilade.config import load_config
from enfilade.environments.errors import InstallError, Reason
from enfilade_sdk.errors import EnfiladeError


def owner_hint(name: str) -> str:
    """Words behind an error about a plugin's name: whose strategy it is, where it is one's; empty else."""
    try:
        owners = [c.plugin for c in discovered(load_config()) if any(offer.name == name for offer in c.offers)]
    except EnfiladeError:  # it is not what was asked for
        return ""
    return f"; {name!r} is a strategy of the plugin {owners[0]!r}" if owners and owners[0] != name else ""


def explained(error: EnfiladeError, name: str) -> EnfiladeError:
    """The error, with what the name is where it is not that of an installed plugin."""
    if not isinstance(error, InstallError) or error.reason is not Reason.UNKNOWN:
        return error
    return InstallError(error.reason, f"{error.message}{owner_hint(name) or _beside_hint(name)}")


def _beside_hint(name: str) -> str:
    try:
        beside = {plugin_key(candidate.plugin): candidate.plugin for candidate in beside_the_host(load_config())}
    except EnfiladeError:
        return ""
    if (plugin := beside.get(plugin_key(name))) is None:
        return ""
    return (
        f"; {plugin!r} has no environment of its own: it is beside the host, where pip installs and removes it, or in "
        f"the configuration; [plugins.{plugin}] enabled = false leaves it out"
    )
