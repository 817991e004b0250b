"""Files that are no drafts, made for tests."""

from __future__ import annotations

import io

import pypdf
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def pdf(*pages: str | None) -> bytes:
    """Make a PDF of pages with lines of text; None is one with a picture."""
    writer = pypdf.PdfWriter()
    for line in pages:
        page = writer.add_blank_page(600, 800)
        stream, held = DecodedStreamObject(), DictionaryObject()
        if line is None:
            stream.set_data(b"/I Do")
            held = DecodedStreamObject()
            held.set_data(b"\x80")
        else:
            shown = " 0 -15 Td ".join(f"({each}) Tj" for each in line.split("\n"))
            stream.set_data(f"BT /F 12 Tf 50 700 Td {shown} ET".encode("latin-1"))
        subtype, name, kind = ("/Image", "/I", "/XObject") if line is None else ("/Type1", "/F", "/Font")
        held.update({NameObject("/Subtype"): NameObject(subtype), NameObject("/BaseFont"): NameObject("/Helvetica")})
        named = DictionaryObject({NameObject(name): writer._add_object(held)})
        page[NameObject("/Contents")] = writer._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject({NameObject(kind): named})
    writer.write(data := io.BytesIO())
    return data.getvalue()


def locked(data: bytes, password: str) -> bytes:
    """Lock a PDF with a password."""
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(data)))
    writer.encrypt(password, "the owner's", algorithm="RC4-128")
    writer.write(written := io.BytesIO())
    return written.getvalue()


BAD = {
    "locked.pdf": (locked(pdf("North says so."), "secret"), "password"),
    "scanned.pdf": (pdf(None, None), "pictures"),
    "old.doc": (b"\xd0\xcf\x11\xe0 old", "password"),
    "long.txt": (b"word " * 200_000, "200,000 words"),
    "long.tex": (b"word " * 200_001, "may have 1,000,000"),
}
"""By name the bytes of what is refused, and a word of why."""
