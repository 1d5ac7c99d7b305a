"""A stretch of reply that has begun like a tool call, while it can still become one."""

import re
from typing import Final

from enfilade_sdk.markup.broken import FIRST_NAME, BrokenCall, broken_call, stranger
from enfilade_sdk.markup.calls import CALL_KEYS, MarkedCall, Menu, marked_calls
from enfilade_sdk.markup.kinds import NAMESPACES, Markup, Opener
from enfilade_sdk.markup.prefixes import may_be_prefix, without_prefix
from enfilade_sdk.markup.strict import is_unterminated

HOLD_LIMIT: Final = 2**18
"""Characters of a block that are held back; a longer one is text."""

_HEAD = 512
_MAX_CLOSINGS = 8
_CODE = "tool_code"
_FENCE_WORDS = ("", "json", "tool_call", "tool_calls", "tool", "tool_code", "function_call", "xml")
_NAMED_STARTS = ("<name>", "<tool_name>", "<tool>", "<function>")
_STARTS = ("<function=", "<invoke ", "<invoke>", "<tool_call>", *_NAMED_STARTS)
_FIRST_KEY = re.compile(r"\s*(?:\[\s*)?(?:\{\s*(?:([\"'])((?:(?!\1)[^\\])*)(\1?))?)?")
_WORD = re.compile(r"[\w.-]*")


class Block:
    """A block being held back.

    Args:
        opener: How it began.
        menu: The tools that may be called.
        strangers: Whether a call of any other tool is held back, too, for `stranger` to tell.

    Attributes:
        opener: How it began.
        calls: What it turned out to hold; None while that is open, and when it is no call.
    """

    def __init__(self, opener: Opener, menu: Menu, *, strangers: bool = False) -> None:
        self.opener = opener
        self.calls: list[MarkedCall] | None = None
        self._menu = menu
        self._strangers = strangers and opener.kind == "tagged"
        self._pieces: list[str] = []
        self._size = 0
        self._head = opener.text if opener.inside else ""
        self._judged = -1
        self._hopeless = False
        self._tail = ""
        self._closings = 0

    def add(self, text: str) -> str | None:
        """Takes the next text; what follows the block's end comes back, None while it has not ended."""
        end = self.opener.end
        if not end:
            self._keep(text)
            return None
        at = (self._tail + text).find(end)
        while at >= 0:
            taken = at + len(end) - len(self._tail)
            self._keep(text[:taken])
            text, self._tail = text[taken:], ""
            if self._closes():
                return text
            at = text.find(end)
        self._keep(text)
        self._tail = (self._tail + text)[1 - len(end) :]
        return None

    @property
    def is_hopeless(self) -> bool:
        """Whether it can no more become a call; once it is, it stays so."""
        if self._judged != len(self._head):
            self._judged = len(self._head)
            self._hopeless = not _may_become(self.opener.kind, self._head, self._menu, strangers=self._strangers)
        return self._hopeless or self._size > HOLD_LIMIT

    def finish(self) -> None:
        """Reads it at the end of the reply, when its end marker is missing."""
        body = self._body()
        if self.opener.kind == "fenced":
            body = body.rstrip().removesuffix("```")
        self._read(body)

    def broken_call(self, *, cut: bool) -> BrokenCall | None:
        """What can be told of the call, where it is none that can be read.

        Args:
            cut: Whether the reply ended before its time.
        """
        if self.opener.kind in ("fenced", "bare") or self.is_hopeless:
            return None
        body = self._body().rstrip()
        return broken_call(body.removesuffix(self.opener.end).rstrip(), self._menu, cut=cut)

    @property
    def stranger(self) -> BrokenCall | None:
        """The call of a tool that is not on the menu, where that is all the block holds."""
        if not self._strangers or self.calls is not None or self.is_hopeless:
            return None
        return stranger(self._body().rstrip().removesuffix(self.opener.end))

    @property
    def source(self) -> str:
        """All of it as the model wrote it, without its opener."""
        return "".join(self._pieces)

    def _read(self, body: str) -> None:
        if not self.is_hopeless:
            self.calls = marked_calls(self.opener.kind, body, self._menu)

    def _closes(self) -> bool:
        """Whether the end marker that was just met is the block's end, and not part of a JSON string."""
        self._closings += 1
        body = self._body().removesuffix(self.opener.end)
        self._read(body)
        if self.calls is not None or self.is_hopeless or self._closings >= _MAX_CLOSINGS:
            return True
        start = body.find("{")
        return start < 0 or not is_unterminated(body[start:])

    def _body(self) -> str:
        body = (self.opener.text if self.opener.inside else "") + self.source
        return body.partition("\n")[2] if self.opener.kind == "fenced" else body

    def _keep(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)
        if len(self._head) < _HEAD:
            self._head += text[: _HEAD - len(self._head)]


def _may_become(kind: Markup, head: str, menu: Menu, *, strangers: bool = False) -> bool:
    """Whether a block that begins like this may be a call. What is refused here stays refused, however it goes on."""
    if kind == "fenced":
        word, line_end, body = head.partition("\n")
        if line_end:
            allowed = word.strip() in _FENCE_WORDS
            return allowed and (
                _value_start(body, menu, strict=True)
                or (word.strip() == _CODE and _python_start(body, menu, printed=True))
            )
        return any(known.startswith(word.strip()) for known in _FENCE_WORDS)
    if kind == "bare":
        return _json_start(head, menu, strict=True) or _python_start(head, menu)
    if kind == "function":
        return _name_start(head.removeprefix("<function="), menu, ends=">{")
    if kind == "invoke":
        return _invoke_start(head, menu)
    if kind == "sections":
        return True
    body = head.lstrip()
    if strangers and body[:1] == "{":
        return _json_start(body, None, strict=False)
    return (
        not body
        or (kind == "tagged" and _agree(body, "```"))
        or _value_start(body, menu)
        or _name_start(body, menu, ends=" \r\n<{[")
        or _python_start(body, menu)
    )


def _value_start(head: str, menu: Menu, *, strict: bool = False) -> bool:
    body = head.lstrip()
    if body[:1] in ("{", "["):
        return _json_start(body, menu, strict=strict)
    return any(_agree(body, start) for start in _STARTS)


def _invoke_start(head: str, menu: Menu) -> bool:
    body = head.lstrip()
    for space in ("", *NAMESPACES):
        for start, ends in ((f'<{space}invoke name="', '"'), (f"<{space}invoke>", "")):
            if len(body) <= len(start) and _agree(body, start):
                return True
            if body.startswith(start):
                return not ends or _name_start(body[len(start) :], menu, ends=ends)
    return False


def _python_start(head: str, menu: Menu, *, printed: bool = False) -> bool:
    """Whether a call in Python may begin, in a list or by itself, or in `print(...)`."""
    body = head.lstrip()
    body = body.removeprefix("[").lstrip()
    if printed:
        body = body.removeprefix("print(")
    found = _WORD.match(body)
    word = found[0] if found else ""
    if len(word) < len(body):
        return body[len(word)] == "(" and _is_on(menu, word.removesuffix(".call"), whole=True)
    methods = [f"{known}.call" for known in menu]
    bare = without_prefix(word)
    return (
        any(method.startswith(bare) for method in methods)
        or may_be_prefix(word)
        or (printed and "print(".startswith(word))
    )


def _agree(text: str, start: str) -> bool:
    """Whether a text begins with something, or is a beginning of it."""
    return text.startswith(start) or start.startswith(text)


def _json_start(head: str, menu: Menu | None, *, strict: bool) -> bool:
    """Whether an object of a call may begin, of any tool without a menu; unless `strict`, in Python's quotes too."""
    found = _FIRST_KEY.match(head)
    if found is None:
        return False
    quote, key, ended = found.groups()
    if key is None:
        return found.end() == len(head)
    if quote != '"' and strict:
        return False
    if not (key in CALL_KEYS if ended else any(known.startswith(key) for known in CALL_KEYS)):
        return False
    named = FIRST_NAME.match(head)
    return named is None or menu is None or _is_on(menu, named[3], whole=bool(named[4]))


def _name_start(text: str, menu: Menu, *, ends: str) -> bool:
    word = _WORD.match(text)
    name = word[0] if word else ""
    if len(name) == len(text):
        return _is_on(menu, name, whole=False)
    return text[len(name)] in ends and _is_on(menu, name, whole=True)


def _is_on(menu: Menu, name: str, *, whole: bool) -> bool:
    bare = without_prefix(name)
    if whole:
        return bare in menu
    return any(known.startswith(bare) for known in menu) or may_be_prefix(name)
