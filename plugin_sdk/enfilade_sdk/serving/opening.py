"""Opens the strategies of a plugin process, once its streams are guarded."""

import logging
import sys

from enfilade_sdk.errors import NotAdmittedError
from enfilade_sdk.serving.command_line import CommandLine
from enfilade_sdk.serving.handshake import HandshakeError
from enfilade_sdk.serving.plugin import Plugin, extend_path, offer_of


def open_plugin(line: CommandLine) -> Plugin:
    """Imports and checks what the command line names; a strategy that fails is described with its faults.

    Raises:
        HandshakeError: A strategy is not named as `package.module:Class`.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="[%(levelname)s] %(name)s: %(message)s")
    extend_path(line.paths)
    try:
        offers = [offer_of(text) for text in line.offers]
    except NotAdmittedError as error:
        raise HandshakeError(error.message) from None
    return Plugin(offers)
