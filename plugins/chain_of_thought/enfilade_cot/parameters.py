"""What chain of thought can be set to."""

from enfilade_cot.template import SYSTEM
from enfilade_sdk.parameters import AgentStrategyParameter
from enfilade_sdk.rounds import MAX_ITERATIONS

PARAMETERS = (
    AgentStrategyParameter(name="query", type="string", required=True, help="The question."),
    AgentStrategyParameter(name="instruction", type="string", default="", help="Goes first, before the format."),
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
        name="last_round",
        type="select",
        default="withdraw",
        options=["withdraw", "forbid"],
        help="In the last round: leave the tools out of the prompt, or keep it and say that none may be used.",
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
    AgentStrategyParameter(
        name="form",
        type="select",
        default="auto",
        options=["auto", "chat", "completion"],
        help="Messages, or one text for a base model; 'auto' takes what the model is.",
    ),
    AgentStrategyParameter(
        name="template",
        type="string",
        default=SYSTEM,
        help="The system prompt: {{instruction}}, {{tools}} and {{tool_names}} are filled in, each value as it is.",
    ),
    AgentStrategyParameter(
        name="chinese_labels", type="boolean", default=False, help="Also read labels such as 思考, 行动 and 最终答案."
    ),
    AgentStrategyParameter(
        name="starts_thinking",
        type="boolean",
        default=False,
        help="The model's replies begin inside a think block (its chat template ends with <think>).",
    ),
)
