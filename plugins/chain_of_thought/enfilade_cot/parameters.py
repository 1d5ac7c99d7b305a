"""What chain of thought can be set to."""

from enfilade_cot.template import SYSTEM
from enfilade_sdk.loop_parameters import loop_parameters
from enfilade_sdk.parameters import AgentStrategyParameter

PARAMETERS = (
    *loop_parameters(
        instruction="Goes first, before the format.",
        last_round="In the last round: leave the tools out of the prompt, or keep it and say that none may be used.",
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
