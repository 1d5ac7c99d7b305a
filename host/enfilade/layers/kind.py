"""A kind of layer: from the words of a configuration to the layer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from enfilade.errors import ConfigError, near_matches
from enfilade.layers.counts import Counts
from enfilade.layers.layer import Layer
from enfilade.layers.petition import Petitions
from enfilade.layers.recorder import Recorder
from enfilade.models.gateway import ModelGateway
from enfilade.settings.faults import words_of
from enfilade.telemetry.pipeline import Pipeline
from enfilade.tools.registry import SourceRegistry

L = TypeVar("L", bound=Layer)


@dataclass(frozen=True, slots=True)
class Supplies:
    """What a host has to offer to its layers.

    Attributes:
        models: The way to every model.
        tools: The kinds of tool sources.
        recorder: What writes runs down; None where there is no store.
        counts: Where quotas keep their counts; None lets each keep its own in memory.
        petitions: The record of petitions that another process answers; None where there is none.
        pipeline: What sends spans and metrics; None where nothing is to be sent.
    """

    models: ModelGateway
    tools: SourceRegistry
    recorder: Recorder | None = None
    counts: Counts | None = None
    petitions: Petitions | None = None
    pipeline: Pipeline | None = None


@dataclass(frozen=True, slots=True)
class LayerKind:
    """A kind of layer.

    Attributes:
        name: What `kind` says in the configuration.
        description: What it does, in a line.
        build: Makes the layer of the options and of what the host has; raises `ConfigError` where they do not serve.
    """

    name: str
    description: str
    build: Callable[[Mapping[str, Any], Supplies], Layer]


def configured(layer: Callable[..., L], options: Mapping[str, Any], **given: Any) -> L:
    """Makes a layer of the options that somebody wrote.

    Args:
        layer: A pydantic dataclass.
        options: The options.
        given: Arguments that are no options, such as where counts are kept.

    Raises:
        ConfigError: An option is unknown or not valid; the text names each.
    """
    known = [name for name in getattr(layer, "__pydantic_fields__", {}) if name not in given]
    unknown = [f"there is no option {name!r}; {near_matches(name, known)}" for name in options if name not in known]
    try:
        made = layer(**{name: value for name, value in options.items() if name in known}, **given)
    except ValidationError as error:
        raise ConfigError("; ".join(unknown + [_words(fault) for fault in error.errors()])) from None
    if unknown:
        raise ConfigError("; ".join(unknown))
    return made


def _words(fault: ErrorDetails) -> str:
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {words_of(fault)}" if place else words_of(fault)
