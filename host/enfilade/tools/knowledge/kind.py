"""The kind of tool source `knowledge`."""

from enfilade.tools.knowledge.settings import KnowledgeSettings
from enfilade.tools.knowledge.source import KnowledgeSource
from enfilade.tools.registry import SourceKind
from enfilade.tools.source import PythonSetting
from enfilade.tools.tool import ToolSource

NAME = "knowledge"
"""The first word of its specs, and the name of its section in the configuration."""


def knowledge_kind() -> SourceKind:
    """The kind whose specs are `knowledge:NAME`."""
    return SourceKind(NAME, _source, "searches a knowledge base (enfilade knowledge add)", "NAME")


def _source(argument: str, setting: PythonSetting) -> ToolSource:
    section = setting.sections.get(NAME, {})
    configured = {name: found for name, found in section.items() if isinstance(found, KnowledgeSettings)}
    return KnowledgeSource(argument, configured, setting.folder)
