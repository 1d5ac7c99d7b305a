"""HTML: what a reader of the page sees, with its headings."""

import re
from typing import Any

from enfilade.tools.knowledge.block import Block, Outline
from enfilade.tools.knowledge.failure import DocumentFault

_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "iframe", "object", "select", "nav"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)} | {"title": 0}
_BREAKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form "
        "header hr html li main ol p pre section summary table tbody tfoot thead ul",
    )
)


def blocks_of_html(text: str, shown: str) -> list[Block]:
    """The blocks of a page. Broken markup is read as far as it goes.

    Args:
        text: The page.
        shown: What to call it in an error.

    Raises:
        DocumentFault: The library for it is not installed.
    """
    try:
        from lxml import etree
    except ImportError:
        raise DocumentFault(f"{shown}: reading HTML needs: pip install 'enfilade[knowledge]'") from None
    page = _Page()
    target: Any = page
    parser = etree.HTMLParser(target=target, huge_tree=True)
    parser.feed(text or " ")
    try:
        parser.close()
    except etree.XMLSyntaxError:  # nothing in it, not even a word
        return []
    return page.outline.end()


class _Page:
    """Is told of a page's elements in their order; the memory it takes does not grow with their depth."""

    def __init__(self) -> None:
        self.outline = Outline()
        self._text: list[str] = []
        self._unseen = 0
        self._heading: str | None = None
        self._verbatim = 0
        self._cells = 0

    def start(self, tag: str, _attributes: object) -> None:
        """An element begins."""
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _HEADINGS:
            self._flush()
            self._heading = tag
        elif tag in ("td", "th"):
            self._text.append(" | " if self._cells else "")
            self._cells += 1
        elif tag in ("br", "tr"):
            self._text.append("\n")
            self._cells = 0
        elif tag in _BREAKS:
            self._begin(tag)

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag == self._heading:
            self._end_heading(tag)
        elif tag in _BREAKS:
            self._flush()
            self._verbatim -= tag == "pre" and self._verbatim > 0

    def data(self, text: str) -> None:
        """Text; it may come in pieces."""
        if not self._unseen:
            self._text.append(text if self._verbatim or not text.isspace() else " ")

    def close(self) -> None:
        """The page is over."""
        self._flush()

    def _begin(self, tag: str) -> None:
        self._flush()
        if tag == "pre":
            self._verbatim += 1
        elif tag == "li":
            self._text.append("- ")

    def _end_heading(self, tag: str) -> None:
        title, self._text, self._heading = "".join(self._text), [], None
        if tag == "title":
            self.outline.title(title)
        else:
            self.outline.heading(_HEADINGS[tag], title)

    def _flush(self) -> None:
        if self._heading is not None:
            if "".join(self._text).strip():  # else its text is still to come
                self._end_heading(self._heading)
            return
        text, self._text = "".join(self._text), []
        self._cells = 0
        if text.strip(" \n-|"):
            self.outline.text(text if self._verbatim else "\n".join(_lines(text)))


def _lines(text: str) -> list[str]:
    return [line for part in text.split("\n") if (line := " ".join(part.split()))]
