"""`enfilade knowledge search`."""

from collections.abc import Sequence

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.knowledge.bases import KnowledgeBases, told
from enfilade.cli.logs import show_logs
from enfilade.cli.loop_thread import LoopThread
from enfilade.cli.screen import Screen
from enfilade.cli.signals import Signals
from enfilade.cli.usage import CommandLineError
from enfilade.cli.visible import in_one_line
from enfilade.tools.knowledge.retriever import Passage
from enfilade.tools.knowledge.retrievers import retriever_of

_WIDTH = 240


def search(name: str, query: str, limit: int | None, as_json: bool, verbose: bool) -> int:
    """Prints the passages that fit a query."""

    def work(screen: Screen) -> int:
        show_logs(screen, verbose=verbose)
        if not query.strip():
            raise CommandLineError("the query is empty; expected a question, or words to look for")
        with Signals() as signals, LoopThread() as loop:
            passages = loop.finish(_found(name, query, limit), signals)
        if as_json:
            found = [passage.resource(rank, name) | {"path": passage.path} for rank, passage in enumerate(passages, 1)]
            screen.say(json_text(found, indent=2) + "\n")
        elif passages:
            screen.say("\n".join(_lines(rank, passage) for rank, passage in enumerate(passages, 1)))
        else:
            screen.error(f"nothing in {name} fits the query")
        return DONE

    return told(work, as_json=as_json)


async def _found(name: str, query: str, limit: int | None) -> Sequence[Passage]:
    bases = KnowledgeBases.here()
    settings, index = bases.settings(name), bases.opened(name)
    try:
        retriever = retriever_of(index, settings)
    except BaseException:
        index.close()
        raise
    try:
        return await retriever.retrieve(query, limit or settings.results)
    finally:
        await retriever.aclose()


def _lines(rank: int, passage: Passage) -> str:
    return f"[{rank}] {passage.source} (score {passage.score:.4g})\n    {in_one_line(passage.text, _WIDTH)}\n"
