"""docs/configuration.md names every setting there is, with its default; what it leaves to other pages stands there."""

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from enfilade.config import Config, Limits, MemorySettings, PluginSettings, Price
from enfilade.models.settings import ModelSettings
from enfilade.settings.overlay import OWN_VARIABLES
from enfilade.store.settings import StoreSettings
from enfilade.telemetry.settings import TelemetrySettings
from enfilade.tools.entry import ToolEntry
from enfilade.tools.knowledge.settings import EmbeddingSettings, KnowledgeSettings
from enfilade.tools.limits import ToolLimits
from enfilade.tools.mcp.settings import McpSettings
from enfilade.tools.openapi.settings import OpenApiSettings

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "configuration.md").read_text(encoding="utf-8")
OF_THE_WIRE = {"ENFILADE_PLUGIN", "ENFILADE_LAUNCH"}
HERE: dict[str, type[BaseModel]] = {
    "The outermost settings": Config,
    "Models": ModelSettings,
    "Plugins": PluginSettings,
    "Runs": Limits,
    "Tool calls": ToolLimits,
}
ELSEWHERE: list[tuple[type[BaseModel], str]] = [
    (ToolEntry, "tools"),
    (McpSettings, "tools"),
    (OpenApiSettings, "tools"),
    (KnowledgeSettings, "knowledge"),
    (EmbeddingSettings, "knowledge"),
    (StoreSettings, "records"),
    (MemorySettings, "records"),
    (Price, "layers"),
    (TelemetrySettings, "telemetry"),
]


def rows(heading: str) -> dict[str, str]:
    """The settings in the tables below a heading, each with the cell of its default."""
    part = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = [section for section in part if section.startswith(heading + "\n")]
    cells = re.findall(r"^\| (`.*?) \| (.*?) ?\| .* \|$", text, re.MULTILINE)
    return {name: default for names, default in cells for name in re.findall(r"`(\w+)`", names)}


@pytest.mark.parametrize("heading", HERE)
def test_a_table_has_every_setting_and_no_other(heading: str) -> None:
    assert rows(heading).keys() == HERE[heading].model_fields.keys()


@pytest.mark.parametrize("heading", HERE)
def test_a_default_that_is_shown_as_a_value_is_the_default(heading: str) -> None:
    for name, cell in rows(heading).items():
        if shown := re.fullmatch(r"`([^`]+)`", cell):
            default = HERE[heading].model_fields[name].get_default(call_default_factory=True)
            value = tomllib.loads(f"value = {shown[1]}")["value"]
            assert (tuple(value) if isinstance(value, list) else value) == default, name


@pytest.mark.parametrize(("settings", "page"), ELSEWHERE, ids=lambda part: getattr(part, "__name__", part))
def test_a_setting_told_of_elsewhere_stands_there(settings: type[BaseModel], page: str) -> None:
    code = " ".join(re.findall(r"```toml\n.*?```|`[^`\n]+`", (DOCS / f"{page}.md").read_text("utf-8"), re.DOTALL))
    assert [name for name in settings.model_fields if not re.search(rf"\b{name}\b", code)] == []


def test_the_examples_are_a_configuration() -> None:
    for text in re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        Config.model_validate(tomllib.loads(text))


def test_every_variable_that_is_no_setting_is_named() -> None:
    assert [name for name in OWN_VARIABLES - OF_THE_WIRE if f"`{name}`" not in PAGE] == []
