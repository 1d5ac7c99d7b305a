"""From a file to its blocks."""

import codecs
import mimetypes
import os
import re
import stat
from pathlib import Path

from enfilade.tools.knowledge.block import Block
from enfilade.tools.knowledge.failure import DocumentFault
from enfilade.tools.knowledge.formats.html import blocks_of_html
from enfilade.tools.knowledge.formats.markdown import blocks_of_markdown
from enfilade.tools.knowledge.formats.pdf import MAGIC, blocks_of_pdf
from enfilade.tools.knowledge.formats.plain import blocks_of_text

FORMATS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".txt": "text",
    ".text": "text",
    ".rst": "text",
    ".adoc": "text",
    ".org": "text",
}
"""The endings of files that are taken from a folder; a file that is named may have any other and is text then."""

_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_HEAD = 2048


def content_of(path: Path, shown: str, limit: int) -> bytes:
    """What a file holds.

    Raises:
        DocumentFault: It is not there, no ordinary file, empty, too large, or may not be read.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe without a writer would be waited for
        with open(file, "rb") as opened:  # noqa: PTH123 - it is open already
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise DocumentFault(f"{shown} is not an ordinary file (a device, pipe or socket) and is not read")
            if found.st_size > limit:
                raise _too_large(shown, found.st_size, limit)
            data = opened.read(limit + 1)
    except FileNotFoundError:
        raise DocumentFault(f"there is no file {shown}") from None
    except OSError as error:
        raise DocumentFault(f"{shown} cannot be read: {error.strerror}") from None
    if len(data) > limit:  # it grew meanwhile
        raise _too_large(shown, len(data), limit)
    if not data.strip():
        raise DocumentFault(f"{shown} is empty; there is nothing to find in it")
    return data


def format_of(path: Path, data: bytes) -> str:
    """The format of a file: `markdown`, `html`, `pdf` or `text`."""
    return "pdf" if data.startswith(MAGIC) else FORMATS.get(path.suffix.lower(), "text")


def blocks_of(data: bytes, kind: str, shown: str) -> list[Block]:
    """The blocks of a document.

    Args:
        data: What its file holds.
        kind: Its format.
        shown: What to call it in an error.

    Raises:
        DocumentFault: It cannot be read as what it is, or has no text.
    """
    if kind == "pdf":
        if not data.startswith(MAGIC):
            raise DocumentFault(f"{shown} is no PDF, though its name says so; give it the name that fits")
        blocks = blocks_of_pdf(data, shown)
    else:
        text = _text(data, kind, shown)
        if kind == "html":
            blocks = blocks_of_html(text, shown)
        else:
            blocks = blocks_of_markdown(text) if kind == "markdown" else blocks_of_text(text)
    if not blocks:
        why = "; if its pages are pictures, run text recognition (OCR) first" if kind == "pdf" else ""
        raise DocumentFault(f"{shown} has no text{why}")
    return blocks


def _text(data: bytes, kind: str, shown: str) -> str:
    encoding = next((name for bom, name in _BOMS.items() if data.startswith(bom)), "")
    if not encoding and b"\0" in data:
        what = mimetypes.guess_type(shown.rpartition("/")[2])[0] or "binary data"
        raise DocumentFault(f"{shown} is no text ({what}, {len(data):,} bytes); expected text, Markdown, HTML or PDF")
    encoding = encoding or (_declared(data) if kind == "html" else "") or "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentFault(
            f"{shown} is not {encoding.upper()}: byte 0x{data[error.start]:02x} in line {line}; save it as UTF-8 "
            "(iconv -f WINDOWS-1252 -t UTF-8, or whatever it is in, does that)"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").replace("\x0c", "\n\n")


def _declared(data: bytes) -> str:
    """The encoding that a page says it is in, if Python knows it."""
    found = _CHARSET.search(data[:_HEAD])
    try:
        return codecs.lookup(found[1].decode("ascii")).name if found is not None else ""
    except (LookupError, UnicodeDecodeError):
        return ""


def _too_large(shown: str, size: int, limit: int) -> DocumentFault:
    return DocumentFault(
        f"{shown} has {size:,} bytes, above the limit of {limit:,} for one document; split it, or raise file_bytes"
    )
