"""Whatever a run did, its turn is fit for every provider, and is what the run had when it ended well."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from enfilade.outcome import Status
from enfilade.store.dialogue import Answered, Exchange
from enfilade.store.start import RunStart
from enfilade.store.state import State
from enfilade.store.store import Store
from enfilade.store.turn import Ending, turn_of
from enfilade_sdk.errors import ModelFailedError, RunCancelled
from enfilade_sdk.prompts import (
    AssistantMessage,
    ContentPart,
    ImagePart,
    ImageUrl,
    ModelRequest,
    ModelResult,
    PromptMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from tests.store.provider_rules import faults_of

texts = st.sampled_from(["", " ", "rain", "wind\0", "half \ud83d"])
ids = st.sampled_from(["c1", "c2", "c3"])
calls = st.builds(ToolCall, id=ids, name=st.just("weather"), error=st.sampled_from([None, "not an object"]))
call_lists = st.lists(calls, max_size=3, unique_by=lambda call: call.id).map(tuple)
assistants = st.builds(AssistantMessage, content=st.none() | texts, tool_calls=call_lists)
parts: st.SearchStrategy[list[ContentPart]] = st.just(
    [TextPart(text="look"), ImagePart(image_url=ImageUrl(url="data:image/png;base64,AA"))]
)
users = st.builds(UserMessage, content=st.sampled_from(["go on", "again"]) | parts)
tools = st.builds(ToolMessage, tool_call_id=ids, content=texts)
prompts = st.lists(assistants | users | tools, max_size=6)
answers = st.dictionaries(ids, st.builds(Answered, text=texts))
endings = st.builds(
    Ending,
    state=st.sampled_from([State.SUCCEEDED, State.FAILED, State.CANCELLED, State.INTERRUPTED]),
    answer=texts,
    code=st.sampled_from(["", "model_failed"]),
    own_words=st.booleans(),
)


@given(prompts, st.none() | assistants, answers, endings)
def test_every_turn_is_fit_for_every_provider(
    prompt: list[PromptMessage], reply: AssistantMessage | None, results: dict[str, Answered], ending: Ending
) -> None:
    turn = turn_of(Exchange([UserMessage(content="Weather?"), *prompt], reply, results), ending)
    assert faults_of(turn) == []
    assert turn_of(Exchange(turn), Ending(State.SUCCEEDED)) == turn


@dataclass(slots=True)
class Simulated:
    """A run that is made up: how its rounds went, and how it ended."""

    rounds: list[AssistantMessage]
    answered: list[bool]
    nudges: list[bool]
    end: Status
    live: list[PromptMessage] = field(default_factory=list)


runs = st.builds(
    Simulated,
    rounds=st.lists(
        st.builds(AssistantMessage, content=st.just("said"), tool_calls=call_lists), min_size=1, max_size=5
    ),
    answered=st.lists(st.booleans(), min_size=5, max_size=5),
    nudges=st.lists(st.booleans(), min_size=5, max_size=5),
    end=st.sampled_from(Status),
)


@examples(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(runs, min_size=1, max_size=3))
async def test_every_conversation_is_rebuilt_as_it_was(file_store: Store, turns: Sequence[Simulated]) -> None:
    conversation = uuid4().hex
    history: list[PromptMessage] = []
    for run in turns:
        await _played(file_store, run, conversation, history)
        found = list((await file_store.conversation(conversation)).messages)
        assert faults_of(found) == []
        assert found[: len(history)] == history
        if run.end is Status.SUCCEEDED:
            assert found[len(history) :] == run.live
        history = found


async def _played(store: Store, run: Simulated, conversation: str, history: Sequence[PromptMessage]) -> None:
    """Plays a run that ends with a plain reply when it succeeds; results that it leaves out, it makes up itself."""
    question = UserMessage(content="again?")
    record = await store.records.run_began(
        RunStart(uuid4().hex, "simulated", "again?", conversation_id=conversation, history=tuple(history))
    )
    prompt: list[PromptMessage] = [question]
    for number, reply in enumerate(run.rounds):
        entry = await record.model_began(ModelRequest((*history, *prompt)))
        entry.ended(ModelResult(reply.model_copy(update={"reasoning": "a thought"})))
        prompt.append(reply)
        for call in reply.tool_calls:
            told = ToolResult(f"{call.id} of round {number}", is_error=run.nudges[number])
            if run.answered[number]:
                (await record.tool_began(ToolRequest(call.name, "{}", call.id))).ended(told)
            prompt.append(ToolMessage(tool_call_id=call.id, content=told.text, name=call.name, is_error=told.is_error))
        if run.nudges[number] or not reply.tool_calls:
            prompt.append(UserMessage(content="go on"))
    last = await record.model_began(ModelRequest((*history, *prompt)))
    if run.end is Status.SUCCEEDED:
        last.ended(ModelResult(AssistantMessage(content="the end")))
    else:
        last.failed(ModelFailedError("away") if run.end is Status.FAILED else RunCancelled("left"))
    run.live = [*prompt, AssistantMessage(content="the end")]
    record.ended(run.end, answer="the end")
