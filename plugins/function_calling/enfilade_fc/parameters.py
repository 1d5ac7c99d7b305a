"""What function calling can be set to."""

from enfilade_sdk.loop_parameters import loop_parameters

PARAMETERS = loop_parameters(
    instruction="Goes first, as the system message.",
    last_round="In the last round: offer no tools, or offer them with tool_choice 'none'.",
)
