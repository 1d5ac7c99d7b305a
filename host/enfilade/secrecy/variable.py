"""The name of an environment variable, as a setting that says where a secret is."""

import re
from typing import Annotated

from pydantic import AfterValidator

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _name(value: str) -> str:
    """Refuses what no shell can set. It is often the secret itself, which is then shown nowhere."""
    if value and not _NAME.fullmatch(value):
        raise ValueError(
            f"expected the name of an environment variable (letters, digits, _), found a text of {len(value)} "
            "characters that is none; if it is the secret itself, put it into a variable and give that one's name"
        )
    return value


VariableName = Annotated[str, AfterValidator(_name)]
"""The name of an environment variable; empty where a setting says that there is none."""
