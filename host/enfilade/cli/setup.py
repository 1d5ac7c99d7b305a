"""What the options come to: the host's configuration, the agent, the plugins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from enfilade.agent import AgentConfig
from enfilade.candidate import Candidate, plugin_key
from enfilade.cli.candidates import beside_the_host, is_target, target_candidate
from enfilade.cli.mcp_servers import given_servers
from enfilade.cli.options import AskOptions
from enfilade.cli.recorded import USER, conversation_of, user_of, with_records
from enfilade.cli.usage import CommandLineError
from enfilade.config import Config, PluginSettings, load_config
from enfilade.models.settings import ModelSettings
from enfilade.settings.faults import faults_of

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Setup:
    """A host and an agent as they were asked for.

    Attributes:
        config: The configuration, with what the command line puts over it.
        agent: The agent file, with what the command line puts over it; without `params`.
        candidates: Plugins beside those that the host finds itself.
        params: `KEY=VALUE` texts for the strategy, which has to be opened to read them.
        seconds: The time of one question; None leaves it to the configuration.
        conversation: The conversation that the questions belong to; None for none.
        reload: Whether the question is put again when the strategy's files have changed.
        user: Who asks.
        max_iteration: What was given as `--max-iteration`; the agent has it too.
    """

    config: Config
    agent: AgentConfig
    candidates: tuple[Candidate, ...]
    params: tuple[str, ...] = ()
    seconds: float | None = None
    conversation: str | None = None
    reload: bool = False
    user: str = USER
    max_iteration: int | None = None


def setup_of(options: AskOptions) -> Setup:
    """Reads the configuration and the agent file, and puts the options over them.

    Raises:
        ConfigError: A file cannot be used; every fault is named with its place.
        CommandLineError: An option cannot be used.
    """
    config = with_records(_with_isolation(load_config(), options), options)
    servers = given_servers(options.mcp, config.mcp)
    config = config.model_copy(update={"mcp": {**config.mcp, **servers}})
    agent = _agent(options, [*options.tools, *(f"mcp:{name}" for name in servers)])
    config = _with_endpoint(config, agent, options)
    strategy = agent.strategy or config.default_strategy
    candidates: tuple[Candidate, ...] = (target_candidate(strategy, config.isolation),) if is_target(strategy) else ()
    if options.reload:
        config = _reloading(config, strategy)
        candidates = tuple(replace(c, supervision=replace(c.supervision, reload=True)) for c in candidates)
    conversation, user = conversation_of(options), user_of(options)
    return Setup(
        config,
        agent,
        candidates,
        options.params,
        seconds=options.timeout,
        conversation=conversation,
        reload=options.reload,
        user=user,
        max_iteration=options.max_iteration,
    )


def _reloading(config: Config, strategy: str) -> Config:
    """The configuration with `reload` for the plugin beside the host that offers a strategy.

    Raises:
        CommandLineError: It runs in this process, where code that was imported stays.
    """
    offering = [c for c in beside_the_host(config) if any(offer.name == strategy for offer in c.offers)]
    plugins = dict(config.plugins)
    for candidate in offering:
        known = {plugin_key(name): name for name in plugins}
        name = known.get(plugin_key(candidate.plugin), candidate.plugin)
        plugins[name] = plugins.get(name, PluginSettings()).model_copy(update={"reload": True})
    if any(candidate.isolation == "inprocess" for candidate in offering) or config.isolation == "inprocess":
        raise CommandLineError("--reload needs a process to start anew; leave out --isolation inprocess")
    return config.model_copy(update={"plugins": plugins})


def _agent(options: AskOptions, tools: Sequence[str]) -> AgentConfig:
    agent = AgentConfig() if options.agent is None else AgentConfig.read(options.agent)
    given = {
        "strategy": options.strategy,
        "model": options.model,
        "prompt": options.instruction,
        "max_iteration": options.max_iteration,
        "tools": tuple({"tool": spec, "required": True} for spec in tools) or None,
    }
    return _over(_without_rivals(agent, options), given)


def _without_rivals(agent: AgentConfig, options: AskOptions) -> AgentConfig:
    """The agent without what the options say in the other of the two ways there are."""
    named = {pair.partition("=")[0] for pair in options.params}
    changes: dict[str, Any] = {}
    if "max_iteration" in named:
        changes["max_iteration"] = None
    if "instruction" in named:
        changes["prompt"] = ""
    given = named | ({"max_iteration"} if options.max_iteration is not None else set())
    given |= {"instruction"} if options.instruction is not None else set()
    changes["parameters"] = {name: value for name, value in agent.parameters.items() if name not in given}
    return agent.model_copy(update=changes)


def _with_isolation(config: Config, options: AskOptions) -> Config:
    if options.isolation is None:
        return config
    plugins = {name: chosen.model_copy(update={"isolation": None}) for name, chosen in config.plugins.items()}
    return config.model_copy(update={"isolation": options.isolation, "plugins": plugins})


def _with_endpoint(config: Config, agent: AgentConfig, options: AskOptions) -> Config:
    """The configuration with the model at the endpoint that was given, whether it has the model or not."""
    if options.base_url is None and options.api_key_env is None:
        return config
    name = agent.model or config.default_model
    known = config.models.get(name)
    if known is None and not (options.base_url and agent.model):
        missing = "-m NAME, what the endpoint calls the model" if options.base_url else "--base-url URL"
        raise CommandLineError(f"there is no model {name!r} in the configuration, so give {missing}")
    given = {"base_url": options.base_url, "api_key_env": options.api_key_env}
    kind = {"provider": "openai"} if options.base_url else {}
    settings = _over(known or ModelSettings(name=name, tools=True), given | kind)
    return config.model_copy(update={"models": {**config.models, name: settings}})


def _over(model: _Model, given: Mapping[str, Any]) -> _Model:
    """A model with what was given (None is not given) put over it.

    Raises:
        CommandLineError: Something that was given is not valid.
    """
    kept = {name: getattr(model, name) for name in model.model_fields_set}
    try:
        return type(model).model_validate(kept | {name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise CommandLineError(faults_of(error, "the command line", type(model))) from None
