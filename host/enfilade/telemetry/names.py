"""Every name of OpenTelemetry's GenAI conventions that is used here, in one place: they still change.

Spans follow the conventions' own repository (semantic-conventions-genai 0.1.0). Of the metrics, those of calls keep the
names that they have had since semantic-conventions 1.36, because that is what dashboards know; 0.1.0 renames them to
`gen_ai.client.inference....`.
"""

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"

REQUEST_MODEL = "gen_ai.request.model"
REQUEST_STREAM = "gen_ai.request.stream"
REQUEST_STOP = "gen_ai.request.stop_sequences"
REQUEST_SETTINGS = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
}
"""Sampling settings of a request and the attributes that hold them."""

RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"

INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - no secret

TOOL = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_TYPE = "gen_ai.tool.type"

SYSTEM = "gen_ai.system_instructions"
INPUT = "gen_ai.input.messages"
OUTPUT = "gen_ai.output.messages"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"

ERROR = "error.type"
HTTP_STATUS = "http.response.status_code"
SERVER = "server.address"
PORT = "server.port"

RUN = "enfilade.run.id"
PLUGIN = "enfilade.plugin"
PLUGIN_STATE = "enfilade.plugin.state"
STATUS = "enfilade.run.status"
ROUNDS = "enfilade.run.rounds"
GIVEN_UP = "enfilade.call.given_up"
"""Set on a call whose answer nobody waited for to its end: not its own failure."""

INVOKE_AGENT = "invoke_agent"
EXECUTE_TOOL = "execute_tool"
CHAT = "chat"
COMPLETION = "text_completion"

TOKEN_USAGE_METRIC = "gen_ai.client.token.usage"  # noqa: S105 - no secret
CALL_METRIC = "gen_ai.client.operation.duration"
AGENT_METRIC = "gen_ai.invoke_agent.duration"
TOOL_METRIC = "gen_ai.execute_tool.duration"
RUNS_METRIC = "enfilade.runs"
OPEN_RUNS_METRIC = "enfilade.runs.open"
PLUGIN_STATES_METRIC = "enfilade.plugin.states"

TOKEN_BUCKETS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
SECONDS_BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The boundaries that the conventions want for `TOKEN_USAGE_METRIC` and `CALL_METRIC`."""
