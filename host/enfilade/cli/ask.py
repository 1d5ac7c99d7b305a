"""`enfilade run`: one question, one run."""

import asyncio
import logging
from collections.abc import Callable

from enfilade.briefing import Question
from enfilade.cli.answer import answered, ready_agent
from enfilade.cli.exit_code import DONE, FAILED
from enfilade.cli.failure import exit_code_of, failed
from enfilade.cli.json_sink import JsonSink
from enfilade.cli.logs import show_logs
from enfilade.cli.loop_thread import LoopThread
from enfilade.cli.options import AskOptions
from enfilade.cli.question import question_text
from enfilade.cli.screen import ReaderGoneError, Screen
from enfilade.cli.setup import Setup, setup_of
from enfilade.cli.signals import Interrupted, Signals
from enfilade.cli.sink import Sink
from enfilade.cli.text_sink import TextSink
from enfilade.cli.tracing import caller_trace
from enfilade.cli.usage import CommandLineError
from enfilade.host import Host
from enfilade.outcome import Outcome, Status
from enfilade_sdk.errors import EnfiladeError, InternalError, RunCancelled

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.1


def ask(question: str, options: AskOptions) -> int:
    """Asks an agent one question and shows the run; gives the exit code."""
    with Signals() as signals:
        screen = Screen.claim()
        logs = show_logs(screen, verbose=options.verbose)
        sink = _sink(screen, as_json=options.json)
        try:
            setup = setup_of(options)
            logs.follow(setup.config.log_format)
            return _asked(question, setup, sink, signals, lambda: _sink(screen, as_json=options.json))
        except Interrupted:
            error = RunCancelled("the run was cancelled before it began")
            sink.end(Outcome(status=Status.CANCELLED, error=error))
            raise
        except EnfiladeError as error:
            sink.end(failed(error))
            return exit_code_of(error)
        except ReaderGoneError:
            return FAILED
        except Exception as error:  # noqa: BLE001 - a fault of ours; whoever reads JSON gets the last line all the same
            _log.exception("a fault of the command itself")
            sink.end(failed(InternalError(f"{type(error).__name__}: {error} (-v shows more; please report it)")))
            return FAILED


def _sink(screen: Screen, *, as_json: bool) -> Sink:
    return JsonSink(screen) if as_json else TextSink(screen)


def _asked(question: str, setup: Setup, sink: Sink, signals: Signals, further: Callable[[], Sink]) -> int:
    with signals.reading():
        text = question_text(question)
    with LoopThread() as loop:
        outcome = loop.finish(_outcome(setup, text, sink, further), signals, sink.last_word)
    return DONE if outcome.status is Status.SUCCEEDED else FAILED


async def _outcome(setup: Setup, text: str, sink: Sink, further: Callable[[], Sink]) -> Outcome:
    async with Host(setup.config, further=setup.candidates) as host:
        question = Question(text, setup.user, setup.conversation, seconds=setup.seconds, **caller_trace())
        try:
            agent = await ready_agent(host, setup)
        except CommandLineError:
            raise
        except EnfiladeError as error:
            await host.record_failure(setup.agent, question, error)
            raise
        outcome = await answered(host, agent, question, sink)
        while setup.reload:
            swaps = host.catalog.swaps
            while host.catalog.swaps == swaps:  # noqa: ASYNC110 - a look now and then is all that a person needs
                await asyncio.sleep(_LOOK_SECONDS)
            sink = further()
            try:
                outcome = await answered(host, await ready_agent(host, setup), question, sink)
            except EnfiladeError as error:
                sink.end(failed(error))
        return outcome
