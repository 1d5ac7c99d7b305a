"""`enfilade knowledge add`."""

from collections.abc import Sequence
from dataclasses import asdict

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.knowledge.bases import KnowledgeBases, counted, told
from enfilade.cli.knowledge.progress import FileProgress
from enfilade.cli.logs import show_logs
from enfilade.cli.loop_thread import LoopThread
from enfilade.cli.screen import YELLOW, Screen
from enfilade.cli.signals import Interrupted, Signals
from enfilade.tools.knowledge.adding import Addition, Changes
from enfilade.tools.knowledge.finding import files_of, folders_of
from enfilade.tools.knowledge.retrievers import embedder_of


def add(name: str, paths: Sequence[str], description: str | None, prune: bool, as_json: bool, verbose: bool) -> int:
    """Takes documents in."""

    def work(screen: Screen) -> int:
        show_logs(screen, verbose=verbose)
        try:
            with Signals() as signals, LoopThread() as loop:
                changes = loop.finish(_added(name, paths, description, prune, screen), signals)
        except Interrupted:
            screen.note("interrupted; nothing was changed")
            raise
        for reason in changes.skipped.values():
            screen.error(f"warning: left out: {reason}", YELLOW)
        form = {"knowledge": name, **asdict(changes)}
        screen.say(json_text(form, indent=2) + "\n" if as_json else _text(name, changes))
        return DONE

    return told(work, as_json=as_json)


async def _added(name: str, paths: Sequence[str], description: str | None, prune: bool, screen: Screen) -> Changes:
    bases = KnowledgeBases.here()
    settings = bases.settings(name)
    found = files_of(paths, bases.folder, may_be_none=prune)
    below = folders_of(paths, bases.folder) if prune else []
    embedder = embedder_of(settings)
    index = bases.made(name)
    try:
        addition = Addition(index, settings, embedder, FileProgress(screen))
        return await addition.run(found, description=description, gone_below=below)
    except BaseException:
        index.remove(if_empty=True)
        raise
    finally:
        index.close()
        if embedder is not None:
            await embedder.aclose()


def _text(name: str, changes: Changes) -> str:
    counts = {
        "added": len(changes.added),
        "replaced": len(changes.replaced),
        "unchanged": len(changes.unchanged),
        "removed": len(changes.removed),
        "left out": len(changes.skipped),
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{name}: {said}; it has {counted(changes.documents, 'document')} in {counted(changes.parts, 'part')}\n"
