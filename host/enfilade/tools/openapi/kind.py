"""The kind of tool source `openapi`."""

from enfilade.secrecy.address import shown_address
from enfilade.tools.openapi.settings import OpenApiSettings
from enfilade.tools.openapi.source import OpenApiSource
from enfilade.tools.registry import SourceKind
from enfilade.tools.source import PythonSetting
from enfilade.tools.tool import ToolSource
from enfilade_sdk.errors import InvalidParamsError

NAME = "openapi"
"""The first word of its specs, and the name of its section in the configuration."""


def openapi_kind() -> SourceKind:
    """The kind whose specs are `openapi:DOCUMENT` and `openapi:DOCUMENT#OPERATION,OPERATION`.

    A document is a name of the configuration, a file, or an address.
    """
    return SourceKind(NAME, _source, "the operations of an OpenAPI document", "FILE_OR_URL")


def _source(argument: str, setting: PythonSetting) -> ToolSource:
    document, mark, listed = argument.partition("#")
    operations = tuple(one.strip() for one in listed.split(",") if one.strip())
    if not document or (mark and not operations):
        raise InvalidParamsError(f"openapi:{argument}: expected a document and, after #, names of operations")
    configured = setting.sections.get(NAME, {}).get(document)
    settings = configured if isinstance(configured, OpenApiSettings) else OpenApiSettings(document=document)
    if operations:
        settings = settings.model_copy(update={"operations": operations})
    return OpenApiSource(f"openapi:{shown_address(argument)}", settings, setting.folder)
