"""The arguments of a tool call: read leniently, handed on strictly."""

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from enfilade.models.repair import mended_object
from enfilade.models.surrogates import mended
from enfilade_sdk.markup.strict import DECODER, parse_object, strict_value

_EMPTY = frozenset({"", "null", "None", "undefined"})
_MARK = "\ufeff"
_EXCERPT = 80
_MAX_OPENINGS = 3
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[ \t\r\n]*")


class Arguments(NamedTuple):
    """What the pieces of a call's arguments come to.

    Attributes:
        text: JSON text of an object, always fit to be sent back to a provider; `{}` when nothing could be read.
        parsed: The object; None when the arguments could not be read and the tool must not be run.
        error: What is wrong, in words for the model; None when nothing is.
        repaired: Whether the text was no JSON object as it stood and was mended.
    """

    text: str
    parsed: dict[str, Any] | None
    error: str | None = None
    repaired: bool = False


def read_arguments(pieces: Sequence[Any], *, cut: bool = False) -> Arguments:
    """Reads arguments that came in pieces: text, objects, or both.

    Text pieces are joined; only when that makes no sense are they taken for snapshots that repeat what came before
    (honest deltas may repeat, and a lost digit is worse than a refused call). Objects that grow from piece to piece
    are snapshots too. Nothing at all means `{}`. A JSON string that holds JSON is opened. Faults of quoting, commas
    and the like are mended and flagged. Text that was cut off is never mended: half an argument is a wrong argument.

    Args:
        pieces: What the deltas held, in order; None and empty text count for nothing.
        cut: Whether the reply ended before its time (its length was used up), so that only whole JSON counts.
    """
    given = [piece for piece in pieces if piece is not None and piece != ""]
    if all(isinstance(piece, str) for piece in given):
        return _from_texts(given, cut=cut)
    if all(isinstance(piece, dict) for piece in given):
        whole = _grown(given, disjoint=True)
        return _several(given) if whole is None else _clean(whole)
    if len(given) == 1:
        return _from_value(given[0])
    return _from_texts([piece if isinstance(piece, str) else json.dumps(piece) for piece in given], cut=cut)


def _from_texts(pieces: Sequence[str], *, cut: bool) -> Arguments:
    whole = mended("".join(pieces)).lstrip(_MARK)
    if whole.strip() in _EMPTY:
        return _cut_off(whole) if cut else Arguments("{}", {})
    for text in (whole, *_snapshots(pieces)):
        if (parsed := parse_object(text)) is not None:
            return Arguments(text.strip(), parsed) if _is_sound(text, parsed) else _clean(parsed)
    if (packed := _packed_again(pieces)) is not None:
        return _clean(packed)
    objects = _in_a_row(whole)
    if objects:
        single = _grown([found for found in objects if found], disjoint=False)
        return _several(objects) if single is None else _clean(single)
    return _opened_or_mended(whole, cut=cut)


def _opened_or_mended(whole: str, *, cut: bool) -> Arguments:
    try:
        value = strict_value(whole)
    except RecursionError:
        return _failed("The arguments are nested too deeply.")
    except ValueError as error:
        if cut:
            return _cut_off(whole)
        found = mended_object(whole)
        if isinstance(found, dict):
            return _clean(found, repaired=True)
        return _cut_off(whole) if found == "cut" else _failed(_invalid(whole, error))
    return _from_value(value)


def _from_value(value: Any) -> Arguments:
    """Arguments that are JSON, but no object at first sight."""
    for _ in range(_MAX_OPENINGS):
        if isinstance(value, str) and value.strip() not in _EMPTY:
            opened = parse_object(value)
            try:
                value = strict_value(value) if opened is None else opened
            except (ValueError, RecursionError):
                break
        elif isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, list) and value and all(isinstance(piece, str) for piece in value):
            value = "".join(value)
        else:
            break
    if isinstance(value, dict):
        return _clean(value)
    if value is None or value == [] or (isinstance(value, str) and value.strip() in _EMPTY):
        return Arguments("{}", {})
    return _failed(f"The arguments must be one JSON object, but {_kind(value)} came.")


def _is_sound(text: str, parsed: dict[str, Any]) -> bool:
    """Whether there is no half of a character in it, which JSON can write but nobody can send."""
    if _SURROGATE.search(text) is None:
        return True
    dumped = json.dumps(parsed, ensure_ascii=False)
    return mended(dumped) == dumped


def _snapshots(pieces: Sequence[str]) -> list[str]:
    """The last piece, when it repeats what came before: each piece a longer snapshot, or all once more at the end."""
    if len(pieces) < 2:  # noqa: PLR2004 - one piece repeats nothing
        return []
    last, before = pieces[-1], pieces[:-1]
    growing = all(later.startswith(earlier) for earlier, later in itertools.pairwise(pieces))
    return [last] if growing or last.startswith("".join(before)) else []


def _packed_again(pieces: Sequence[str]) -> dict[str, Any] | None:
    """The object of all pieces but the last, when that one is the same object once more, packed in a JSON string."""
    before = parse_object("".join(pieces[:-1])) if len(pieces) > 1 and pieces[-1][:1] == '"' else None
    if before is None:
        return None
    try:
        last = strict_value(pieces[-1])
    except (ValueError, RecursionError):
        return None
    return before if isinstance(last, str) and parse_object(last) == before else None


def _in_a_row(text: str) -> list[dict[str, Any]]:
    """The objects that stand one after another in a text that holds nothing else; empty when it holds more."""
    found, at = [], _after_space(text, 0)
    try:
        while at < len(text):
            value, at = DECODER.raw_decode(text, at)
            if not isinstance(value, dict):
                return []
            found.append(value)
            at = _after_space(text, at)
    except (ValueError, RecursionError):
        return []
    return found


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _grown(objects: Sequence[dict[str, Any]], *, disjoint: bool) -> dict[str, Any] | None:
    """One object out of snapshots of it; None when they contradict each other."""
    whole: dict[str, Any] = {}
    for later in objects:
        if _contains(later, whole):
            whole = later
        elif disjoint and whole.keys().isdisjoint(later):
            whole = {**whole, **later}
        elif not _contains(whole, later):
            return None
    return whole


def _contains(later: Any, earlier: Any) -> bool:
    """Whether one value can be what another has grown into."""
    if earlier is None or later == earlier:
        return True
    if isinstance(earlier, dict) and isinstance(later, dict):
        return all(name in later and _contains(later[name], value) for name, value in earlier.items())
    if isinstance(earlier, list) and isinstance(later, list):
        return len(earlier) <= len(later) and all(map(_contains, later, earlier))
    return isinstance(earlier, str) and isinstance(later, str) and later.startswith(earlier)


def _clean(parsed: dict[str, Any], *, repaired: bool = False) -> Arguments:
    """Arguments written anew: no lone surrogates, no number that JSON cannot hold."""
    try:
        text = json.dumps(parsed, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return _failed("The arguments hold a value that JSON cannot hold, such as NaN or Infinity.")
    sound = mended(text)
    return (
        Arguments(text, parsed, repaired=repaired) if sound == text else Arguments(sound, json.loads(sound), None, True)
    )


def _failed(error: str) -> Arguments:
    return Arguments("{}", None, error)


def _cut_off(text: str) -> Arguments:
    came = f"only {len(text)} characters came, the last of them {text[-_EXCERPT:]!r}" if text.strip() else "none came"
    return _failed(f"The arguments were cut off: {came}. Make the call again with whole, shorter arguments.")


def _several(objects: Sequence[dict[str, Any]]) -> Arguments:
    return _failed(
        f"The arguments are {len(objects)} JSON objects in a row, but one was expected. Make one call for each of them."
    )


def _invalid(text: str, error: ValueError) -> str:
    excerpt = text if len(text) <= 2 * _EXCERPT else f"{text[:_EXCERPT]}...{text[-_EXCERPT:]}"
    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return f"The arguments are not valid JSON ({reason}): {excerpt!r}. Make the call again with one JSON object."


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {value[:_EXCERPT]!r}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"{json.dumps(value)}"
