"""Faults of the command line itself."""

from enfilade_sdk.errors import EnfiladeError, ErrorCode


class CommandLineError(EnfiladeError):
    """What was typed cannot be meant; ends with exit code 2."""

    code = ErrorCode.INVALID_PARAMS
