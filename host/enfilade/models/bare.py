"""Arguments that are no object, but the bare value of the one parameter that a tool needs."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from enfilade.models.arguments import Arguments
from enfilade.models.surrogates import mended
from enfilade_sdk.markup.strict import strict_value

_NOT_BARE = re.compile(r'[{}\[\]"<>`]')
_PAIR = re.compile(r"\s*([\w-]+)\s*[:=]")


def bare_arguments(pieces: Sequence[Any], schema: Mapping[str, Any]) -> Arguments | None:
    """The arguments that a text means, for a tool with one text to give; None when it is no such text.

    A text in JSON's quotes counts, and one without any sign of JSON. What may be the rest of an object does not.

    Args:
        pieces: What the deltas held, in order.
        schema: The JSON Schema of the tool's arguments.
    """
    name = _meant(schema)
    if name is None or not all(isinstance(piece, str) for piece in pieces):
        return None
    value = _value(mended("".join(pieces)).strip())
    pair = _PAIR.match(value)
    if not value or (pair and pair[1] in schema.get("properties", {})):
        return None
    parsed = {name: value}
    return Arguments(json.dumps(parsed, ensure_ascii=False), parsed, repaired=True)


def _meant(schema: Mapping[str, Any]) -> str | None:
    """The parameter, a text, that is the only one, or the only one that has to be given."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return None
    names = schema.get("required") or list(properties)
    if not isinstance(names, list) or len(names) != 1:
        return None
    known = properties.get(names[0])
    return names[0] if isinstance(known, Mapping) and known.get("type") == "string" else None


def _value(text: str) -> str:
    """The text that is meant; empty when it is none."""
    try:
        value = strict_value(text)
    except (ValueError, RecursionError):
        value = text
    bare = value if isinstance(value, str) else text
    return "" if _NOT_BARE.search(bare) else bare
