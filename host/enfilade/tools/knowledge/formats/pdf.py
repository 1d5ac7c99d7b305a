"""PDF: the text of its pages."""

from io import BytesIO
from typing import TYPE_CHECKING

from enfilade.tools.knowledge.block import Block
from enfilade.tools.knowledge.failure import DocumentFault
from enfilade.tools.knowledge.formats.plain import blocks_of_text

if TYPE_CHECKING:
    from pypdf import PdfReader

MAGIC = b"%PDF-"
"""What a PDF begins with."""


def blocks_of_pdf(data: bytes, shown: str) -> list[Block]:
    """The blocks of a PDF, each with its page.

    Raises:
        DocumentFault: It is encrypted or damaged, or the library for it is not installed.
    """
    try:
        from pypdf import PdfReader
    except ImportError:
        raise DocumentFault(f"{shown}: reading PDF needs: pip install 'enfilade[knowledge]'") from None
    try:
        reader = PdfReader(BytesIO(data))
        _decrypt(reader, shown)
        pages = [page.extract_text() for page in reader.pages]
    except DocumentFault:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a broken file makes the library do is the file's fault
        words = str(error) or type(error).__name__
        raise DocumentFault(f"{shown} is damaged and cannot be read as PDF ({words}); save it anew") from None
    return [
        Block(block.text, page=number) for number, text in enumerate(pages, 1) for block in blocks_of_text(_clean(text))
    ]


def _decrypt(reader: "PdfReader", shown: str) -> None:
    """Opens a PDF that anybody may read and nobody change; for those the empty password serves."""
    if reader.is_encrypted and not reader.decrypt(""):
        raise DocumentFault(
            f"{shown} is encrypted and needs a password; add a copy without one, as made by qpdf --decrypt"
        )


def _clean(text: str) -> str:
    """Without lone surrogates and NULs, which fonts with broken tables bring about."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")
