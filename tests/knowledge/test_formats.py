"""From files to blocks, and what is said of files that cannot be read."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.tools.knowledge.block import Block
from enfilade.tools.knowledge.failure import DocumentFault
from enfilade.tools.knowledge.formats.markdown import blocks_of_markdown
from enfilade.tools.knowledge.formats.plain import blocks_of_text
from enfilade.tools.knowledge.formats.reading import blocks_of, content_of, format_of
from tests.knowledge.files import GUIDE, PAGE, encrypted, pdf_of

LIMIT = 64 * 1024 * 1024


def read(data: bytes, name: str) -> list[Block]:
    return blocks_of(data, format_of(Path(name), data), name)


def fault(data: bytes, name: str) -> str:
    with pytest.raises(DocumentFault) as caught:
        read(data, name)
    return caught.value.message


def test_markdown_is_read_by_its_headings() -> None:
    assert read(GUIDE.encode(), "guide.md") == [
        Block("Welcome to the harbour.", "Harbour guide"),
        Block("The mooring fee is 14 pounds a night.", "Harbour guide > Mooring"),
        Block("- Pay at the office.\n- Visitors moor at the north pier.", "Harbour guide > Mooring"),
        Block("High water at Oban is at 06:10.", "Harbour guide > Tides"),
    ]


def test_markdown_keeps_code_and_tables_as_they_are_written() -> None:
    text = "Setext\n======\n\n```py\n# no heading\n\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<!-- hidden -->\n"
    assert blocks_of_markdown(text) == [
        Block("```py\n# no heading\n\nx = 1\n```", "Setext"),
        Block("| a | b |\n|---|---|\n| 1 | 2 |", "Setext"),
    ]


def test_front_matter_is_no_heading() -> None:
    assert blocks_of_markdown("---\ntitle: Fees\n---\n# Mooring\n\nx\n") == [
        Block("title: Fees"),
        Block("x", "Mooring"),
    ]


def test_headings_with_nothing_under_them_are_found_too() -> None:
    assert blocks_of_markdown("# `A` [b](http://x)\n## C\n## D\n") == [
        Block("C", "A b"),
        Block("D", "A b"),
    ]
    assert blocks_of_markdown("# Alone\n") == [Block("Alone")]


def test_html_is_read_as_it_is_seen() -> None:
    assert read(PAGE.encode(), "page.html") == [
        Block("The lighthouse was built in 1861.\nIt is white.", "Harbour"),
        Block("Name | Post\nAda | harbour master", "Harbour > Staff"),
        Block("- open daily", "Harbour > Staff"),
        Block("  a = 1\n    b = 2", "Harbour > Staff"),
    ]


def test_the_title_of_a_page_stands_for_its_first_heading() -> None:
    assert read(b"<title>Fees &amp; Rules</title><p>a<h2>Dogs</h2><p>b", "a.html") == [
        Block("a", "Fees & Rules"),
        Block("b", "Fees & Rules > Dogs"),
    ]
    assert read(b"<title>Site</title><h1>Fees</h1><p>a", "a.html") == [Block("a", "Fees")]
    assert fault(b"<title>Site</title>", "a.html") == "a.html has no text"


def test_a_heading_that_is_never_closed_ends_where_a_paragraph_begins() -> None:
    assert read(b"<h1>Fees<p>a</p><h2><div>Dogs</div></h2>b<h3>c<h3>d<p>e", "a.html") == [
        Block("a", "Fees"),
        Block("b", "Fees > Dogs"),
        Block("c", "Fees > Dogs"),
        Block("e", "Fees > Dogs > d"),
    ]


def test_a_heading_of_any_length_is_cut() -> None:
    [block] = read(f"# {'long ' * 1000}\n\nx\n".encode(), "a.md")
    assert len(block.heading) == 199
    assert block.text == "x"


@pytest.mark.parametrize(("name", "library", "what"), [("a.html", "lxml", "HTML"), ("a.pdf", "pypdf", "PDF")])
def test_a_library_that_is_not_installed_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, library: str, what: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    said = fault(pdf_of("x") if what == "PDF" else b"<p>x", name)
    assert said == f"{name}: reading {what} needs: pip install 'enfilade[knowledge]'"


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<meta charset="windows-1252">', "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">', "latin-1"),
        ('<?xml version="1.0" encoding="ISO-8859-15"?>', "iso-8859-15"),
        ("", "utf-8"),
        ('<meta charset="no-such-thing">', "utf-8"),
    ],
)
def test_html_is_in_the_encoding_that_it_names(head: str, encoding: str) -> None:
    assert read(f"{head}<p>Fähre</p>".encode(encoding), "page.html") == [Block("Fähre")]


@pytest.mark.parametrize(
    "markup", ["<div>" * 50_000, "<!--" * 50_000, "<b><p>" * 20_000, "</" * 50_000, "<a " * 50_000, "<table>" * 20_000]
)
def test_broken_html_is_read_in_linear_time(markup: str) -> None:
    kept = read(f"<p>before</p>{markup}".encode(), "page.html")
    assert kept[0] == Block("before")


@given(st.text(alphabet=st.sampled_from("<>/!-=\"'& abp\n水"), max_size=60))
def test_no_markup_makes_the_reader_fail(text: str) -> None:
    try:
        read(f"<p>x</p>{text}".encode(), "page.html")
    except DocumentFault as error:
        assert "has no text" in error.message


def test_the_pages_of_a_pdf_are_told_apart() -> None:
    assert read(pdf_of("Fees are due.", "", "High water at noon."), "rules.pdf") == [
        Block("Fees are due.", page=1),
        Block("High water at noon.", page=3),
    ]


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_pdf_that_anybody_may_read_is_read(algorithm: str) -> None:
    assert read(encrypted(pdf_of("Fees are due."), "", algorithm), "rules.pdf") == [Block("Fees are due.", page=1)]


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_an_encrypted_pdf_is_told(algorithm: str) -> None:
    said = fault(encrypted(pdf_of("Fees are due."), "secret", algorithm), "rules.pdf")
    assert said == "rules.pdf is encrypted and needs a password; add a copy without one, as made by qpdf --decrypt"


@pytest.mark.parametrize("data", [b"%PDF-1.4\n%%EOF", pdf_of("x")[:200], b"%PDF-1.7 " + bytes(5000)])
def test_a_damaged_pdf_is_told(data: bytes) -> None:
    assert fault(data, "rules.pdf").startswith("rules.pdf is damaged and cannot be read as PDF (")


def test_a_pdf_of_pictures_is_told() -> None:
    said = fault(pdf_of("", ""), "scan.pdf")
    assert said == "scan.pdf has no text; if its pages are pictures, run text recognition (OCR) first"


def test_what_is_called_a_pdf_and_is_none_is_told() -> None:
    assert fault(b"hello", "rules.pdf") == "rules.pdf is no PDF, though its name says so; give it the name that fits"
    assert read(pdf_of("Fees."), "rules.txt") == [Block("Fees.", page=1)]


def test_html_without_text_is_told() -> None:
    assert fault(b"<html><body><img src='x.png'><script>x</script></body></html>", "a.html") == "a.html has no text"
    assert fault(b"<!-- nothing -->", "a.html") == "a.html has no text"


def test_a_binary_file_is_told_with_what_it_is() -> None:
    said = fault(b"\x89PNG\r\n\x1a\n\0\0\0", "chart.png")
    assert said == "chart.png is no text (image/png, 11 bytes); expected text, Markdown, HTML or PDF"


@pytest.mark.parametrize("name", ["notes.txt", "notes.md"])
def test_what_is_not_utf_8_is_told_with_the_place(name: str) -> None:
    said = fault("first\nFähre\n".encode("cp1252"), name)
    assert said.startswith(f"{name} is not UTF-8: byte 0xe4 in line 2; save it as UTF-8")


def test_marks_of_unicode_encodings_are_understood() -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert read("Fähre".encode(encoding), "notes.txt") == [Block("Fähre")]


def test_paragraphs_are_what_blank_lines_set_apart() -> None:
    text = b"one\r\ntwo\r\n \t\r\n\r\n    three\n\n\n\nfour\x0cfive"
    assert [block.text for block in read(text, "a.txt")] == ["one\ntwo", "    three", "four", "five"]


@given(st.text(alphabet=st.sampled_from(" \t\nab水"), max_size=80))
def test_no_word_of_a_text_is_lost(text: str) -> None:
    assert [word for block in blocks_of_text(text) for word in block.text.split()] == text.split()


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    for data in (b"", b" \n\t\n"):
        (tmp_path / "a.md").write_bytes(data)
        with pytest.raises(DocumentFault, match=r"^a\.md is empty; there is nothing to find in it$"):
            content_of(tmp_path / "a.md", "a.md", LIMIT)


def test_a_file_of_200_mb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(DocumentFault, match=r"^a\.txt has 200,000,000 bytes, above the limit of 67,108,864"):
        content_of(tmp_path / "a.txt", "a.txt", LIMIT)


def test_what_is_no_ordinary_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DocumentFault, match="is not an ordinary file"):
        content_of(tmp_path / "pipe", "pipe", LIMIT)
    with pytest.raises(DocumentFault, match="there is no file gone"):
        content_of(tmp_path / "gone", "gone", LIMIT)
