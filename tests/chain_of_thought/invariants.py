"""What holds for every reply."""

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from enfilade_cot.events import Action, Answer, Dropped, Event, Mark, ParseError, Thought, joined
from enfilade_cot.labels import ENGLISH, LabelSet
from enfilade_cot.parser import MAX_OBJECT, Parser
from tests.chain_of_thought.replies import TOOLS, cuts


@dataclass(frozen=True)
class Setting:
    """How a reply is parsed."""

    cut: bool = False
    tools: Collection[str] = TOOLS
    labels: LabelSet = ENGLISH
    max_object: int = MAX_OBJECT
    thinking: bool = False


PLAIN = Setting()


def parse(text: str, chunks: Iterable[str] | None = None, setting: Setting = PLAIN) -> list[Event]:
    """All events of a reply, as they came."""
    parser = Parser(setting.tools, labels=setting.labels, max_object=setting.max_object, thinking=setting.thinking)
    events = [event for chunk in ([text] if chunks is None else chunks) for event in parser.feed(chunk)]
    return events + parser.finish(setting.cut)


def check(text: str, rng: random.Random, setting: Setting = PLAIN) -> list[Event]:
    """Raises an AssertionError that tells what does not hold; gives the joined events."""
    whole = joined(parse(text, setting=setting))
    for chunks in (list(text), cuts(text, rng), cuts(text, rng)):
        pieces = joined(parse(text, chunks, setting))
        assert pieces == whole, f"the chunks matter: {text!r}\nwhole:  {whole}\npieces: {pieces}\nchunks: {chunks}"
    loses_nothing(text, whole)
    acts_in_order(text, whole)
    return whole


def loses_nothing(text: str, events: Sequence[Event]) -> None:
    """Thoughts, and answers that are not decoded, stand in the reply in order, each character once."""
    said = "".join(e.text for e in events if isinstance(e, Thought))
    answer = "".join(e.text for e in events if isinstance(e, Answer))
    if '"thought"' not in text and "'thought'" not in text:
        rest = iter(text)
        assert all(c in rest for c in said), f"a thought is not the reply's: {text!r}\n{events}"
    shown = "".join(e.text for e in events if isinstance(e, Thought) and not e.reasoning)
    assert len(shown) + len(answer) <= len(text) + 2, f"something is said twice: {text!r}\n{events}"
    if not any(isinstance(e, Answer | Action | ParseError | Dropped | Mark) for e in events) and not set(
        ":\uff1a\ufe55\ufe13\u3011"
    ) & set(text):
        tags = ("<think", "</think", "final answer")
        if not any(tag in text.lower() for tag in tags):
            assert said == text, f"text without structure is not the same: {text!r}\n{events}"


def acts_in_order(text: str, events: Sequence[Event]) -> None:
    """Nothing but dropped text follows an action or an error; after an answer, nothing but answer."""
    kinds = [type(e) for e in events]
    assert kinds.count(ParseError) <= 1, f"two errors: {text!r}\n{events}"
    first = next((i for i, k in enumerate(kinds) if k in (Action, ParseError)), None)
    if first is not None:
        assert set(kinds[first:]) <= {Action, Dropped, ParseError}, f"something follows an action: {text!r}\n{events}"
        assert Answer not in kinds, f"an action and an answer: {text!r}\n{events}"
        assert not (Action in kinds and ParseError in kinds), f"an action and an error: {text!r}\n{events}"
    for event in events:
        if isinstance(event, Action):
            assert event.known is (event.name in TOOLS), f"known is wrong: {event}"
            assert event.name, f"an action without a name: {text!r}\n{events}"
            assert len(event.raw) <= len(text), f"raw is no part of the reply: {event}"
