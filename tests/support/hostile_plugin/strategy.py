"""A strategy that does what it is told, and says what it gained or how it was refused."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.hostile_plugin.deeds import DEEDS
from tests.support.hostile_plugin.lies import take_over


class Hostile:
    def get_parameters(self) -> list[Any]:
        return []

    def invoke(self, *, params: dict[str, Any]) -> Iterator[str]:
        try:
            gained = DEEDS[params["deed"]](json.loads(params["target"]))
        except (OSError, MemoryError) as error:
            yield json.dumps({"refused": f"{type(error).__name__}: {error}"})
        else:
            yield json.dumps({"gained": gained})


take_over()
