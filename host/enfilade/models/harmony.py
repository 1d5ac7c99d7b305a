"""The raw form of gpt-oss models, from servers that hand it on unread: channels with headers."""

import re
from typing import Final, NamedTuple

_STARTS: Final = ("<|channel|>", "<|start|>")
_MESSAGE: Final = "<|message|>"
_ENDS: Final = ("<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>")
_ANALYSIS: Final = "analysis"
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT = re.compile(r"\bto=(?:functions\.)?([\w.-]+)")
_LONGEST_HEADER = 400
"""Characters of a header; a reply that begins like one and has more is plain text."""


class Spoken(NamedTuple):
    """What a piece of the reply holds: thought, text for the user, finished calls (name, arguments as text)."""

    reasoning: str = ""
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()


class Harmony:
    """Parts thought, text and calls of a reply that begins with a header; any other reply passes as it is.

    The `analysis` channel is thought. A message with a recipient (`to=functions.NAME`) is a call. All else is text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._header: str | None = None  # the header so far; None inside a message
        self._recipient = ""
        self._is_thought = False
        self._arguments: list[str] = []
        self._begun = False
        self.is_off = False

    @property
    def is_flowing(self) -> bool:
        """Whether everything passes just as it is."""
        return self.is_off

    def feed(self, piece: str) -> Spoken:
        """Takes the next piece; what may be a marker is held back."""
        if self.is_off:
            return Spoken(text=piece)
        text, self._held = self._held + piece, ""
        if not self._begun:
            bare = text.lstrip()
            if any(start.startswith(bare) for start in _STARTS):
                self._held = text
                return Spoken()
            self._begun = bare.startswith(_STARTS)
            if not self._begun:
                self.is_off = True
                return Spoken(text=text)
            self._header, text = "", bare
        return self._read(text)

    def finish(self) -> Spoken:
        """What was held back, at the end of the reply. The end of a call is often not sent."""
        held, self._held = self._held, ""
        if not self._begun:
            return Spoken(text=held)
        if self._header is not None:
            return Spoken()
        said = self._said(held)
        return said._replace(calls=(*said.calls, *self._closed()))

    def _read(self, text: str) -> Spoken:
        reasoning, shown = "", ""
        calls: tuple[tuple[str, str], ...] = ()
        while text:
            if self._header is not None:
                text = self._read_header(text)
                if self.is_off:
                    return Spoken(reasoning, shown + text, calls)
                continue
            at, marker = _first(text, _ENDS)
            said = self._said(text[:at])
            reasoning, shown = reasoning + said.reasoning, shown + said.text
            if marker:
                calls += self._closed()
                self._header = marker if marker in _STARTS else ""
                text = text[at + len(marker) :]
            else:
                self._held, text = text[at:], ""
        return Spoken(reasoning, shown, calls)

    def _read_header(self, text: str) -> str:
        header = (self._header or "") + text
        found, marker, rest = header.partition(_MESSAGE)
        if not marker and len(header) <= _LONGEST_HEADER + len(_MESSAGE):
            self._header = header
            return ""
        self.is_off = len(found) > _LONGEST_HEADER
        channel, recipient = _CHANNEL.search(found), _RECIPIENT.search(found)
        self._header = None
        self._is_thought = channel is not None and channel[1] == _ANALYSIS
        self._recipient = recipient[1] if recipient else ""
        return header if self.is_off else rest

    def _said(self, text: str) -> Spoken:
        if self._recipient:
            self._arguments.append(text)
            return Spoken()
        return Spoken(reasoning=text) if self._is_thought else Spoken(text=text)

    def _closed(self) -> tuple[tuple[str, str], ...]:
        """The call whose message ended, if it was one."""
        if not self._recipient:
            return ()
        call = (self._recipient, "".join(self._arguments).strip())
        self._recipient, self._arguments = "", []
        return (call,)


def _first(text: str, markers: tuple[str, ...]) -> tuple[int, str]:
    """Where the first marker is, and which; without one, where the beginning of one stands at the end of the text."""
    found = [(at, marker) for marker in markers if (at := text.find(marker)) >= 0]
    if found:
        return min(found)
    at = text.rfind("<")
    is_partial = at >= 0 and any(marker.startswith(text[at:]) for marker in markers)
    return (at if is_partial else len(text)), ""
