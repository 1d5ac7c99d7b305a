"""How a strategy's failure reaches the caller: from this process and from a guest alike."""

import pytest

from enfilade.admission import Runner
from enfilade_sdk.errors import EnfiladeError, ErrorCode
from enfilade_sdk.messages import LogPayload, ToolInvokeMessage
from tests.support.trial_run import begin, messages

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOTH_FORMS = pytest.mark.parametrize("form", ["", "Blocking"])


async def failure(runner: Runner, form: str, how: str) -> tuple[list[ToolInvokeMessage], EnfiladeError]:
    got: list[ToolInvokeMessage] = []
    run = begin(runner, f"Fail{form}", how=how)
    with pytest.raises(EnfiladeError) as caught:
        while True:
            got.append(await anext(run))
    return got, caught.value


@BOTH_FORMS
async def test_an_error_keeps_its_code_text_and_details(runner: Runner, form: str) -> None:
    _, error = await failure(runner, form, "quota")
    assert (error.code, error.message, error.details) == (ErrorCode.QUOTA_EXCEEDED, "no tokens left", {"used": 7})


@BOTH_FORMS
async def test_a_failure_that_may_be_tried_again_says_so(runner: Runner, form: str) -> None:
    _, error = await failure(runner, form, "model")
    assert (error.code, error.retryable, error.details["status"]) == (ErrorCode.MODEL_FAILED, True, 503)


@BOTH_FORMS
async def test_an_exception_becomes_an_internal_error_with_its_traceback_in_the_details_only(
    runner: Runner, form: str
) -> None:
    _, error = await failure(runner, form, "value")
    assert (error.code, error.message) == (ErrorCode.INTERNAL, "the strategy failed with ValueError: a bad value")
    assert 'raise ValueError("a bad value")' in error.details["traceback"]


@BOTH_FORMS
async def test_messages_and_logs_from_before_the_failure_are_not_lost(runner: Runner, form: str) -> None:
    got, _ = await failure(runner, form, "value")
    labels = [m.message.label if isinstance(m.message, LogPayload) else "text" for m in got]
    assert labels == ["before the fault", "text", "just before the fault"]


@BOTH_FORMS
@pytest.mark.parametrize(
    ("how", "code", "text"),
    [
        ("exit", ErrorCode.INTERNAL, "the strategy raised SystemExit: 3"),
        ("cancelled", ErrorCode.INTERNAL, "the strategy raised CancelledError: "),
        ("not a message", ErrorCode.PROTOCOL, "a strategy yielded a message that is not valid: type: expected one of"),
        ("nothing like a message", ErrorCode.PROTOCOL, "a strategy yielded an int; expected a ToolInvokeMessage"),
        ("surrogate", ErrorCode.INTERNAL, "the strategy failed with ValueError: bad "),
        ("odd details", ErrorCode.QUOTA_EXCEEDED, "odd"),
    ],
)
async def test_whatever_a_strategy_raises_or_yields_ends_in_a_clear_error(
    runner: Runner, form: str, how: str, code: ErrorCode, text: str
) -> None:
    _, error = await failure(runner, form, how)
    assert (error.code, error.message[: len(text)]) == (code, text)


async def test_a_huge_error_is_cut_on_its_way_from_a_guest(runner: Runner) -> None:
    _, error = await failure(runner, "", "huge")
    assert error.code is ErrorCode.QUOTA_EXCEEDED
    if type(runner).__name__ != "InProcess":
        assert len(error.message) < 70_000
        assert error.message.endswith("... (cut)")
        assert error.details == {}


async def test_an_invoke_that_returns_no_iterator_says_what_was_expected(runner: Runner) -> None:
    with pytest.raises(EnfiladeError, match="invoke returned a str; expected a generator"):
        await messages(runner, "NotIterable")


async def test_a_strategy_that_is_not_there_is_named_with_those_that_are(runner: Runner) -> None:
    with pytest.raises(EnfiladeError, match=r"this plugin has no strategy 'Nobody'; it has: Recall, Kinds,"):
        await messages(runner, "Nobody")
