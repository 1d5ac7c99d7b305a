"""`enfilade knowledge remove`."""

from collections.abc import Sequence

from enfilade.cli.exit_code import DONE
from enfilade.cli.json_line import json_text
from enfilade.cli.knowledge.bases import KnowledgeBases, counted, told
from enfilade.cli.screen import Screen
from enfilade.tools.knowledge.adding import totals
from enfilade.tools.knowledge.documents import documents_of
from enfilade.tools.knowledge.removing import remove_documents


def remove(name: str, paths: Sequence[str], as_json: bool) -> int:
    """Takes documents out, or removes the whole knowledge base."""

    def work(screen: Screen) -> int:
        removed, left = _removed(name, paths)
        form = {"knowledge": name, "removed": removed, "documents": left}
        said = (
            f"{name}: {len(removed)} removed; it has {counted(left or 0, 'document')}"
            if paths
            else f"{name} is removed"
        )
        screen.say((json_text(form, indent=2) if as_json else said) + "\n")
        return DONE

    return told(work, as_json=as_json)


def _removed(name: str, paths: Sequence[str]) -> tuple[list[str], int | None]:
    """What was taken out, and how many documents are left; None where nothing is left of the knowledge base."""
    bases = KnowledgeBases.here()
    bases.opened(name).close()  # tells of a name that there is not
    index = bases.made(name)
    try:
        if paths:
            return remove_documents(index, paths, bases.folder), totals(index)[0]
        names = [document.name for document in documents_of(index)]
        index.remove()
        return names, None
    finally:
        index.close()
