"""What goes wrong with an OpenAPI document and the interface it describes."""

from enfilade.tools.fault import ReportedError
from enfilade_sdk.errors import EnfiladeError, ErrorCode


class DocumentError(EnfiladeError):
    """A document cannot be used; the text names it and says why."""

    code = ErrorCode.TOOL_FAILED


class OperationFault(Exception):  # noqa: N818 - it is the fault of what is described, and ends nothing but itself
    """One operation of a document cannot be made a tool; the text says why."""


class HttpFailure(ReportedError):  # noqa: N818 - an answer, named for what it is
    """The interface answered with an error, or could not be reached; the text is for the model."""
