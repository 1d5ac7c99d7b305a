"""Puts tool calls together from deltas, whatever the server makes of index, id and name."""

import itertools
import json
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from enfilade.models.arguments import Arguments
from enfilade.models.bare import bare_arguments
from enfilade.models.draft import Draft, Entry, entry_of
from enfilade.models.parallel import Use, uses_in
from enfilade.models.surrogates import mended
from enfilade_sdk.prompts import ToolCall, ToolCallDelta

NAMELESS = "unnamed_tool"
"""The name given to a call that came without one: strict providers refuse an empty name in the history."""

MAX_CALLS = 512
"""Calls that one reply may hold."""

_LEGACY = "function_call"
_FOUND = "found in the text"


def mint_id() -> str:
    """An id that every provider takes: nine letters and digits (Mistral allows no other form)."""
    return "c" + secrets.token_hex(4)


class TooManyCallsError(ValueError):
    """A reply holds more calls than anyone can mean."""


class CallAssembly:
    """The tool calls of one reply.

    The rules, in short: a new id with a name is a new call, whatever the index says; an index seen before continues
    its call; without either, order of arrival decides. Metadata that repeats adds nothing. A delta that names a tool
    and brings arguments, when the call it points at already has a whole object, is another call. An id that changes
    while the arguments are unfinished, and no new name comes, is the same call.

    Args:
        known: Names of the tools there are, perhaps with the schemas of their arguments; they settle doubt about names
            in pieces, and about arguments that are no object.
        required: Names of the tools that have required parameters.
        mint: Makes ids for calls that came without one, or with one that another call has.
    """

    def __init__(
        self, known: Collection[str] = (), required: Collection[str] = (), mint: Callable[[], str] = mint_id
    ) -> None:
        self._known = known
        self._required = required
        self._mint = mint
        self._drafts: list[Draft] = []
        self._opened = 0
        self._by_index: dict[int | str, Draft] = {}
        self._by_id: dict[str, Draft] = {}
        self._last: Draft | None = None

    def __bool__(self) -> bool:
        return bool(self._drafts)

    @property
    def opened(self) -> int:
        """How many calls have begun."""
        return self._opened

    def feed(self, raw: Any) -> tuple[ToolCallDelta, ...]:
        """Takes the `tool_calls` of one delta; gives out what is new in it, for display."""
        if not isinstance(raw, list):
            raw = [raw]
        entries = [entry for item in raw if (entry := entry_of(item)) is not None]
        if len(entries) > 1 and all(entry.place is None for entry in entries):
            entries = [entry._replace(place=f"#{at}") for at, entry in enumerate(entries)]
        named: set[int] = set()
        return tuple(delta for entry in entries if (delta := self._take(entry, named)) is not None)

    def feed_legacy(self, raw: Any) -> tuple[ToolCallDelta, ...]:
        """Takes a `function_call`, the older form for one call."""
        return self.feed([{**raw, "index": _LEGACY}] if isinstance(raw, dict) else [])

    def add(self, name: str, arguments: Any) -> ToolCallDelta:
        """Adds a whole call that was found in the text; one that is sent as a call, too, counts once."""
        return self._give(self._open(None, _FOUND), Entry(None, "", name, arguments))

    def forget_found(self) -> None:
        """Drops the calls that were found in the text: it turned out to be thought."""
        self._drafts = [draft for draft in self._drafts if draft.index != _FOUND]
        self._last = self._drafts[-1] if self._drafts else None

    def finish(self, *, cut: bool = False) -> tuple[ToolCall, ...]:
        """The calls, complete, in order, with unique ids.

        Args:
            cut: Whether the reply ended before its time; then the call that was written last may be half a call.
        """
        calls: list[ToolCall] = []
        ids: set[str] = set()
        for draft in self._ordered(self._real()):
            name = draft.name(self._known)
            read = self._read(draft, name, cut=cut and draft is self._last)
            for at, use in enumerate(uses_in(name, read.parsed, self._known) or [Use(name, read)]):
                error = use.read.error if use.name else "The call names no tool. Make it again with a tool's name."
                id_ = draft.id if draft.id and draft.id not in ids and not at else self._fresh(ids)
                ids.add(id_)
                calls.append(_call(id_, use.name or NAMELESS, use.read, error))
        return tuple(calls[:MAX_CALLS])

    def _read(self, draft: Draft, name: str, *, cut: bool) -> Arguments:
        read = draft.arguments(cut=cut)
        schema = self._known.get(name) if isinstance(self._known, Mapping) else None
        if read.error is None or cut or not schema:
            return read
        return bare_arguments(draft.pieces, schema) or read

    def _take(self, entry: Entry, named: set[int]) -> ToolCallDelta | None:
        if not (entry.id or entry.name):
            if not entry.has_arguments:
                return None
            if entry.place in self._by_index:  # by far the most frequent: the next piece of the arguments
                return self._give(self._by_index[entry.place], entry)
        draft = self._find(entry, named)
        if draft is None:
            draft = self._open(entry.place, entry.place)
        if entry.name:
            named.add(draft.position)
        return self._give(draft, entry)

    def _open(self, place: int | str | None, index: int | str | None) -> Draft:
        if self._opened == MAX_CALLS:
            raise TooManyCallsError(f"the reply has more than {MAX_CALLS} tool calls")
        draft = Draft(self._opened, index)
        self._opened += 1
        self._drafts.append(draft)
        if place is not None:
            self._by_index[place] = draft
        return draft

    def _give(self, draft: Draft, entry: Entry) -> ToolCallDelta:
        first = "" if draft.id else entry.id
        name = "" if entry.name == draft.name(()) else entry.name
        draft.take(entry)
        if entry.id:
            self._by_id[entry.id] = draft
        self._last = draft
        arguments = mended(entry.arguments) if isinstance(entry.arguments, str) else _shown(entry.arguments)
        return ToolCallDelta(index=draft.position, id=first, name=name, arguments=arguments)

    def _find(self, entry: Entry, named: set[int]) -> Draft | None:
        """The call a delta belongs to; None when it begins a new one."""
        if entry.id:
            return self._find_by_id(entry, named)
        if entry.place is None:
            return self._unless_new(self._last, entry, named)
        if entry.place in self._by_index:
            return self._unless_new(self._by_index[entry.place], entry, named)
        return self._find_by_new_index(entry)

    def _find_by_id(self, entry: Entry, named: set[int]) -> Draft | None:
        same = self._by_id.get(entry.id)
        if same is None:
            return self._find_by_new_id(entry, named)
        if entry.place is not None and same.index is not None and entry.place != same.index:
            at = self._by_index.get(entry.place)
            if at is None and not entry.name and not same.complete:
                return same  # the index counts chunks
            return self._unless_new(at, entry, named)
        return self._unless_new(same, entry, named)

    def _find_by_new_id(self, entry: Entry, named: set[int]) -> Draft | None:
        at = self._last if entry.place is None else self._by_index.get(entry.place)
        if at is None:
            return None
        if not at.id:
            return self._unless_new(at, entry, named)
        return at if self._keeps_going(at, entry) else None

    def _keeps_going(self, at: Draft, entry: Entry) -> bool:
        """Whether a delta continues a call although it has another id: ids that change from delta to delta."""
        if not entry.name:
            return not (entry.has_arguments and at.complete)
        name = at.name(self._known)
        if name not in self._known and name + entry.name in self._known:
            return True
        if not at.pieces or at.complete:
            return False
        if entry.has_arguments:
            return not entry.starts_object
        return entry.name == name

    def _find_by_new_index(self, entry: Entry) -> Draft | None:
        latest = self._last
        if entry.name or latest is None or latest.complete:
            return None
        if latest.index is None and entry.place is not None:
            self._by_index[entry.place] = latest
            return latest
        return None if entry.starts_object else latest

    def _unless_new(self, at: Draft | None, entry: Entry, named: set[int]) -> Draft | None:
        return None if at is None or self._is_another(at, entry, named) else at

    def _is_another(self, at: Draft, entry: Entry, named: set[int]) -> bool:
        """Whether a delta begins another call although index, id or order point at this one."""
        name = at.name(self._known)
        if not entry.name or not name or self._is_piece(at, entry.name):
            return False
        if at.position in named:
            return True
        differs = entry.name != name
        if entry.has_arguments and at.complete:
            return differs or not at.resent_by(entry, grown=self._by_id.get(entry.id) is at)
        return differs and (at.complete or (name in self._known and entry.name in self._known))

    def _is_piece(self, at: Draft, piece: str) -> bool:
        """Whether it is a further piece of the call's name: together they are a tool, alone they are not."""
        name = at.name(self._known)
        return name not in self._known and (name + piece in self._known or not (at.pieces or piece in self._known))

    def _real(self) -> list[Draft]:
        """The drafts that are calls: without noise, and without what came twice in two forms."""
        drafts = [draft for draft in self._drafts if draft.names or draft.pieces]
        for before, after in itertools.pairwise(drafts):
            if before.names and not before.pieces and not after.names:
                before.pieces, after.pieces = after.pieces, []  # the index changed under way, before any argument
        drafts = [draft for draft in drafts if draft.names or draft.pieces]
        shadows = [draft for draft in drafts if any(self._shadows(draft, other) for other in drafts)]
        return [draft for draft in drafts if draft not in shadows]

    def _shadows(self, draft: Draft, other: Draft) -> bool:
        if draft is other or draft.name(self._known) != other.name(self._known):
            return False
        if draft.index == _LEGACY:
            return other.index != _LEGACY
        if draft.index == _FOUND:
            return other.index != _FOUND and draft.arguments(cut=False) == other.arguments(cut=False)
        same_place = draft.index is not None and draft.index == other.index
        return same_place and not draft.pieces and bool(other.pieces) and draft.name(self._known) in self._required

    def _ordered(self, drafts: Sequence[Draft]) -> Iterable[Draft]:
        places = [draft.index for draft in drafts if isinstance(draft.index, int)]
        if len(set(places)) != len(drafts):
            return drafts
        return sorted(drafts, key=lambda draft: draft.index if isinstance(draft.index, int) else 0)

    def _fresh(self, taken: Collection[str]) -> str:
        while (minted := self._mint()) in taken:
            pass
        return minted


def _call(id_: str, name: str, read: Arguments, error: str | None) -> ToolCall:
    parsed: Mapping[str, Any] | None = None if error else read.parsed
    return ToolCall(
        id=id_,
        name=name,
        arguments=read.text,
        parsed=None if parsed is None else dict(parsed),
        error=error,
        repaired=read.repaired,
    )


def _shown(arguments: Any) -> str:
    return "" if arguments is None else json.dumps(arguments)
