"""Reads YAML as OpenAPI wants it: with the plain values of JSON, so that `no` is a text and a date is one too."""

import json
import re
from typing import Any, ClassVar

from enfilade.tools.openapi.failure import DocumentError

_PLAIN = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    "float": (r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "merge": (r"<<", "<"),
}


def read_yaml(text: str, shown: str) -> Any:
    """The value of a YAML text. Keys are texts. Parts that an alias names are shared, and may hold themselves.

    Args:
        text: The text.
        shown: What the document is called.

    Raises:
        DocumentError: It is not YAML, or the package that reads YAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        raise DocumentError(
            f"{shown} is YAML, and reading that needs a further package: pip install 'enfilade[openapi]'"
        ) from None
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc] # the faster of two classes
        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
            mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
            return {key if isinstance(key, str) else json.dumps(key): value for key, value in mapping.items()}

    for kind, (pattern, first) in _PLAIN.items():
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(rf"(?:{pattern})\Z"), list(first))
    try:
        return yaml.load(text, Loader)  # noqa: S506 - a safe loader, with fewer types
    except yaml.YAMLError as error:
        raise DocumentError(f"{shown} is not valid YAML: {' '.join(str(error).split())[:300]}") from None
    except RecursionError:
        raise DocumentError(f"{shown} is nested too deeply") from None
