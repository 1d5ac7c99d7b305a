"""What every loop of the built-in kind can be set to."""

from enfilade_sdk.parameters import AgentStrategyParameter
from enfilade_sdk.rounds import MAX_ITERATIONS


def loop_parameters(*, instruction: str, last_round: str) -> tuple[AgentStrategyParameter, ...]:
    """Query, instruction, and what `enfilade_sdk.loop` reads.

    Args:
        instruction: Where the instruction goes, in words for the user.
        last_round: What the two ways of the last round are, in words for the user.
    """
    return (
        AgentStrategyParameter(name="query", type="string", required=True, help="The question."),
        AgentStrategyParameter(name="instruction", type="string", default="", help=instruction),
        AgentStrategyParameter(
            name="max_iteration",
            type="number",
            default=10,
            min=0,
            max=MAX_ITERATIONS,
            precision=0,
            help="Rounds in which tools may be called; one more is kept for the answer.",
        ),
        AgentStrategyParameter(
            name="last_round", type="select", default="withdraw", options=["withdraw", "forbid"], help=last_round
        ),
        AgentStrategyParameter(
            name="on_limit",
            type="select",
            default="raise",
            options=["raise", "answer", "partial"],
            help="When the model still asks for a tool: fail, answer and say so, or end with the text there is.",
        ),
        AgentStrategyParameter(
            name="parallel_tools", type="number", default=8, min=1, max=64, precision=0, help="Calls made at once."
        ),
    )
