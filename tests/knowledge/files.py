"""Files of every format, made on the spot."""

from collections.abc import Sequence
from io import BytesIO

from pypdf import PdfReader, PdfWriter

GUIDE = """# Harbour guide

Welcome to the harbour.

## Mooring

The mooring fee is 14 pounds a night.

- Pay at the office.
- Visitors moor at the north pier.

## Tides

High water at Oban is at 06:10.
"""

CHINESE = "# 港口指南\n\n潮水在早上六点十分最高。\n\n系泊费为每晚十四英镑。\n"

PAGE = """<!doctype html><html><head><title>Harbour</title><style>p { color: red }</style></head><body>
<nav><a href="/">Start</a></nav><h1>Harbour</h1><p>The lighthouse was built in <b>1861</b>.<br>It is white.</p>
<script>alert("never seen")</script><h2>Staff</h2><table><tr><th>Name</th><th>Post</th></tr><tr><td>Ada</td>
<td>harbour master</td></tr></table><ul><li>open daily</li></ul><pre>  a = 1
    b = 2</pre></body></html>"""


def pdf_of(*pages: str) -> bytes:
    """A PDF with a line of text on each page, written by hand; an empty text makes an empty page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in enumerate(pages):
        font = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 600 800]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {font} /Contents {5 + 2 * number} 0 R >>".encode())
        drawn = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET".encode("cp1252") if text else b""
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn))
    return _file_of(objects)


def encrypted(pdf: bytes, password: str, algorithm: str = "AES-256") -> bytes:
    """The PDF with a password that its readers need; an empty one is for PDFs that anybody may read."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf)))
    writer.encrypt(password, owner_password="owner", algorithm=algorithm)
    made = BytesIO()
    writer.write(made)
    return made.getvalue()


def _file_of(objects: Sequence[bytes]) -> bytes:
    data, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(data)
