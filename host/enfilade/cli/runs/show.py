"""`enfilade runs show`."""

from collections.abc import Iterator

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.runs.records import with_records
from enfilade.cli.screen import Screen
from enfilade.cli.visible import in_one_line
from enfilade.store.database import Database
from enfilade.store.runs import show_run
from enfilade.store.shown import CallShown, FileShown, RoundShown, RunShown
from enfilade.store.usage import UsageSum

_WIDTH = 160


def show(run_id: str, store: str | None, as_json: bool) -> int:
    """Prints one run."""

    async def shown(database: Database, screen: Screen) -> int:
        run = await show_run(database, run_id)
        screen.say(json_text(run.to_json(), indent=2) + "\n" if as_json else "\n".join(_lines(run)) + "\n")
        return DONE

    return with_records(shown, store, as_json=as_json)


def _lines(run: RunShown) -> Iterator[str]:
    yield from _head(run)
    yield from ("", f"question: {run.summary.question}")
    for call in run.calls:
        yield _call(call)
    for entry in run.rounds:
        yield from _round(entry)
    for file in run.files:
        yield _file(file)
    if run.summary.answer:
        yield from ("", f"answer: {run.summary.answer}")
    if run.summary.error is not None:
        yield from ("", f"error: {run.summary.error} (code: {run.summary.error_code})")


def _head(run: RunShown) -> Iterator[str]:
    summary = run.summary
    facts = {
        "run": summary.id,
        "status": summary.status.value,
        "began": f"{summary.began_at.astimezone():%Y-%m-%d %H:%M:%S %z}",
        "seconds": None if summary.seconds is None else f"{summary.seconds:.2f}",
        "strategy": f"{summary.strategy} ({summary.plugin})" if summary.plugin else summary.strategy,
        "model": f"{summary.model} ({summary.provider})" if summary.provider else summary.model,
        "user": summary.user_id,
        "conversation": summary.conversation_id,
        "used": _used(run.used),
        "messages": str(run.events),
    }
    width = max(map(len, facts)) + 2
    yield from (f"{name + ':':<{width}}{value}" for name, value in facts.items() if value)


def _used(used: UsageSum) -> str:
    counts = (used.usage.prompt_tokens, used.usage.completion_tokens)
    tokens = " + ".join("unknown" if count is None else str(count) for count in counts) + " tokens"
    gap = f" ({used.unknown} of {used.calls} calls unknown)" if used.unknown else ""
    return f"{tokens}{gap}, {_cost(used)}"


def _cost(used: UsageSum) -> str:
    if used.unpriced and not used.cost:
        return "cost unknown"
    gap = f" and the unknown cost of {used.unpriced} of {used.calls} calls" if used.unpriced else ""
    return f"{used.cost or 0} US dollars{gap}"


def _round(entry: RoundShown) -> Iterator[str]:
    yield ""
    yield f"round {entry.position}: {entry.model or 'the model'}, {entry.status.value}{_seconds(entry.seconds)}"
    if entry.text:
        yield f"  said: {in_one_line(entry.text, _WIDTH)}"
    if entry.error is not None:
        yield f"  error: {in_one_line(entry.error, _WIDTH)}"
    for call in entry.calls:
        yield _call(call)


def _call(call: CallShown) -> str:
    given = call.arguments if isinstance(call.arguments, str) else json_text(call.arguments)
    came = call.error if call.error is not None else call.result
    end = "" if came is None else f" = {came}"
    return "  " + in_one_line(f"{call.tool} {given}, {call.status.value}{_seconds(call.seconds)}{end}", _WIDTH)


def _file(file: FileShown) -> str:
    name = file.filename or file.url or file.id
    size = "" if file.size is None else f", {file.size:,} bytes"
    return f"file: {name} ({file.mime_type or file.type}){size}{'' if file.kept else ', its content was not kept'}"


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f", {seconds:.2f} s"
