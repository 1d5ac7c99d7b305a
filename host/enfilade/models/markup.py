"""Finds tool calls that a model wrote into its text, and keeps their markup from the user."""

import re
from collections.abc import Collection

from enfilade_sdk.markup.block import Block
from enfilade_sdk.markup.broken import BrokenCall
from enfilade_sdk.markup.calls import MarkedCall, Menu
from enfilade_sdk.markup.kinds import OPENERS, Markup, Opener

_SHORT = frozenset(opener.text for opener in OPENERS if len(opener.text) == 1)
_STARTS = frozenset(opener.text[:2] for opener in OPENERS)
"""How an opener begins: most of what stands after a bracket is none, which is to cost little."""

_CANDIDATE = re.compile(r"[<\[{]|`+")
_FENCE = 3
_WIDEST = max(len(opener.text) for opener in OPENERS)
_MAX_FAILURES = 64


class MarkupFilter:
    """Passes text on and takes calls out of it, the same way however the text is cut.

    A block of markup is a call only when all of it is: the tool is on the menu and its arguments are valid. Everything
    else is text and is given out unchanged, as soon as it cannot become a call any more. Markup inside a code span or
    in a code block that does something else is prose about markup. A code block, or a bare object, is a call only when
    nothing follows it (and, for the bare one, nothing stands before it). White space after a call belongs to it.
    Markup at the start of a line that names a tool on the menu, but cannot be read, is a broken call, for the model to
    be told.

    Args:
        menu: The tools that may be called; without any, all text passes.
        accepted: Which kinds of markup are looked for.
        strangers: Whether a tag that calls any other tool, and is the whole reply, is a call as well.

    """

    def __init__(self, menu: Menu, accepted: Collection[Markup], *, strangers: bool = False) -> None:
        self._menu = menu
        self._is_on = bool(menu and accepted)
        self._accepted = accepted
        self._strangers = strangers
        self._openers: tuple[Opener, ...] | None = None
        self._held = ""
        self._block: Block | None = None
        self._fresh = False
        self._pending: list[str] = []
        self._pending_calls: list[MarkedCall | BrokenCall] = []
        self._found: list[MarkedCall | BrokenCall] = []
        self._failures = 0
        self._shown: list[str] = []
        self._blank = True
        self._before = ""
        self._in_span = False
        self._in_fence = False
        self._trim = False

    @property
    def is_flowing(self) -> bool:
        """Whether text without brackets and back-ticks would pass just as it is."""
        return not (self._held or self._block or self._pending or self._trim)

    def passed(self, text: str) -> None:
        """Takes note of text, without brackets and back-ticks, that went past while this was flowing."""
        self._before = text[-1]
        if self._blank:
            self._blank = text.isspace()
        if self._in_span and "\n" in text:
            self._in_span = False

    def feed(self, text: str) -> str:
        """The text that may be shown by now."""
        if not text or not self._is_on:
            return text
        if self.is_flowing and not _CANDIDATE.search(text):
            self.passed(text)
            return text
        self._run(text)
        return self._take_shown()

    def finish(self, *, cut: bool = False) -> str:
        """The text that was held back, at the end of the reply.

        Args:
            cut: Whether the reply ended before its time; then a call that has begun, of a tool on the menu, is a broken
                call and not text.
        """
        while self._block is not None:
            block, self._block = self._block, None
            block.finish()
            if block.calls is not None:
                self._settle(block)
            elif not (self._is_strange(block) or self._is_broken(block, cut=cut)):
                self._run(self._release(block))
        held, self._held = self._held, ""
        self._show(held)
        self._found += self._pending_calls
        self._pending, self._pending_calls = [], []
        return self._take_shown()

    def take_found(self) -> list[MarkedCall | BrokenCall]:
        """The calls found since the last time."""
        found, self._found = self._found, []
        return found

    def _take_shown(self) -> str:
        shown, self._shown = self._shown, []
        return "".join(shown)

    def _run(self, text: str) -> None:
        while text:
            text = self._over_text(text) if self._block is None else self._into_block(self._block, text)

    def _into_block(self, block: Block, text: str) -> str:
        """Feeds the open block; what is to be looked at next comes back."""
        rest = block.add(text)
        if rest is None and not block.is_hopeless:
            return ""
        self._block = None
        if block.calls is None:
            kept = self._is_strange(block) or self._is_broken(block)
            return (rest or "") if kept else self._release(block) + (rest or "")
        self._settle(block)
        return rest or ""

    def _settle(self, block: Block) -> None:
        """A block was a call; a code block only if nothing but white space and further such blocks follow."""
        calls = block.calls or []
        if block.opener.kind == "fenced":
            self._pending.append(block.opener.text + block.source)
            self._pending_calls += calls
            return
        self._give_up_pending()
        self._found += calls
        self._trim = True

    def _is_strange(self, block: Block) -> bool:
        """Whether a block calls a tool that there is not; that counts when the reply holds nothing else."""
        call = block.stranger
        if call is not None:
            self._pending.append(block.opener.text + block.source)
            self._pending_calls.append(call)
        return call is not None

    def _is_broken(self, block: Block, *, cut: bool = False) -> bool:
        """Whether a block that cannot be read is meant as a call all the same."""
        broken = block.broken_call(cut=cut) if cut or self._fresh else None
        if broken is None:
            return False
        self._give_up_pending()
        self._found.append(broken)
        self._trim = True
        return True

    def _release(self, block: Block) -> str:
        """A block was no call: its opener is text, and what followed comes back to be looked at again."""
        self._failures += 1
        if self._failures >= _MAX_FAILURES:
            self._openers = ()  # enough is enough
        self._show(block.opener.text)
        if block.opener.kind == "fenced":
            self._in_fence = True
        return block.source

    def _over_text(self, text: str) -> str:
        """Shows text up to the next block; what follows the block's opener comes back."""
        text, self._held = self._held + text, ""
        if self._trim:
            text = text.lstrip()
            self._trim = not text
        at = 0
        for candidate in _CANDIDATE.finditer(text):
            start, end = candidate.span()
            self._show(text[at:start])
            at = start
            opener, is_open = self._opener_at(text[start : start + _WIDEST])
            if is_open or (text[start] == "`" and end == len(text)):
                self._held = text[start:]
                return ""
            if opener is not None and (opener.kind != "fenced" or end - start == _FENCE):
                self._block = Block(opener, self._menu, strangers=self._strangers and self._blank)
                self._fresh = self._blank or self._before == "\n"
                return text[start + len(opener.text) :]
            self._show(text[start:end])
            if text[start] == "`":
                self._code(end - start)
            at = end
        self._show(text[at:])
        return ""

    def _code(self, ticks: int) -> None:
        """Back-ticks that open no block open or close a code span or code block."""
        if ticks >= _FENCE:
            self._in_fence = not self._in_fence
        elif ticks == 1:
            self._in_span = not self._in_span

    def _opener_at(self, text: str) -> tuple[Opener | None, bool]:
        """The opener that stands here, and whether it may yet become another, longer one."""
        here, is_open = None, False
        if len(text) > 1 and text[0] not in _SHORT and text[:2] not in _STARTS:
            return None, False
        if self._openers is None:
            self._openers = tuple(opener for opener in OPENERS if opener.kind in self._accepted)
        for opener in self._openers:
            if self._allows(opener):
                if text.startswith(opener.text):
                    here = here or opener
                elif opener.text.startswith(text):
                    is_open = True
        return here, is_open

    def _allows(self, opener: Opener) -> bool:
        if opener.kind == "bare":
            return self._blank and not self._pending
        if opener.kind == "fenced":
            return not self._in_fence and self._before in ("", "\n")
        return not self._in_fence and not self._in_span

    def _show(self, text: str) -> None:
        if not text:
            return
        if self._pending:
            if text.isspace():
                self._pending.append(text)
                return
            self._give_up_pending()
        self.passed(text)
        self._shown.append(text)

    def _give_up_pending(self) -> None:
        """Something follows the code blocks that were held: they are examples."""
        if self._pending:
            whole = "".join(self._pending)
            self._pending, self._pending_calls = [], []
            self.passed(whole)
            self._shown.append(whole)
