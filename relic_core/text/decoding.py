r"""From the bytes of a file to text: encodings told apart, line ends made ``\\n``, what is not text refused.

The order of trial: a byte order mark, UTF-8, Mac Roman by its quotation marks, then one-byte encodings: those of DOS,
Macs and central Europe by bytes that are letters there and signs in cp1252, else those of western Europe. UTF-8 that
was taken for cp1252 and encoded once more is undone. The last two never fail to decode, so a guard stands behind them:
a text in another alphabet read as Latin-1 is nearly all accented letters.
"""

from __future__ import annotations

import codecs
import re

from relic_core.errors import EmptyText, NotText, TextTooLarge

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
"""Control characters that no text has; tab, line feed, form feed and carriage return are allowed."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
"""Control characters and those that turn the direction of what stands around them: no name needs them."""
_LONGEST_NAME = 200
"""Characters; most file systems allow 255 bytes."""
_MAC_MARKS = re.compile(rb"(?<=[a-z])\xd5(?=[a-z])|\xd2(?=[A-Za-z])[^\xd2\xd3]{1,500}[.,!?]\xd3(?=\s)")
"""Curly marks in Mac Roman; in cp1252 the same bytes are capital letters (Õ, Ò, Ó)."""
_CP1252_MARKS = re.compile(rb"[\x91-\x94]")
_SIGNS_OF = {
    "cp1252": re.compile(rb"(?<=[a-z])[\xe0-\xf6\xf8-\xfc](?=[a-z])"),
    "cp850": re.compile(rb"(?<=[a-z])[\x81-\x84\x86-\x8d\x93-\x95\xa0-\xa4](?=[a-z])"),
    "mac-roman": re.compile(rb"(?<=[a-z])[\x8e-\x90\x99\x9f](?=[a-z])"),
    "iso8859-2": re.compile(rb"(?<=[a-z])[\xb1\xb3\xb6\xb9\xbc\xbe\xbf](?=[a-z])"),
}
"""Within words: letters of an encoding, of which those of all but the first are signs in cp1252."""
_CZECH = re.compile(rb"\xec.*\xf8|\xf8.*\xec", re.DOTALL)
_CZECH_MARKS = re.compile(rb"[\x9a\x9d\x9e]")
_CP1250 = re.compile(rb"[\xb9\x9c\x9f]")
_LATIN_2 = re.compile(rb"[\xb1\xb6\xbc\xbe]|\xb9(?=[^\x9c\xb9]{0,200}[\xec\xf8])")
"""What tells the two encodings of central Europe apart: Polish ą, ś, ź, and the š of Czech near ě or ř."""
_DOS = re.compile(
    rb"[\x9b\x9d\x9e\xa9\xb5-\xb8\xbd\xbe\xc6\xc7\xcf-\xd8\xdd\xde\xe0\xe2-\xf0\xf2-\xf5\xf7\xf9\xfb\xfc]"
)
_DRAWN = re.compile(rb"[\xb3-\xda]{2}")
_WRITTEN = re.compile(rb"[\x9b\x9d\xb5-\xb7\xc6\xc7\xd0-\xd4\xd6-\xd8\xde\xe0\xe2-\xe5\xe9-\xeb](?=[A-Za-z\x80-\xa5])")
"""What differs between the encodings of DOS: boxes of cp437, and letters of cp850 at the beginning of a word."""
_DOUBLED = re.compile("â€|Ã[\x80-\xbf©¨ª«¯±³´¶¼]|Â[\xa0-\xbf]")
_FEW = 3
_BESIDE = 40
"""Bytes on either side of a sign that are shown."""
_ENOUGH = 200_000
"""Characters that show whether a text is doubly encoded."""
_CP1252_BYTES = {bytes([byte]).decode("cp1252", "ignore"): bytes([byte]) for byte in range(0x80, 0xA0)}
_ACCENTED_SHARE = 0.5
"""Western European prose stays well below this share of non-ASCII letters; Greek or Cyrillic misread goes far above."""


def decode(data: bytes, *, max_bytes: int) -> str:
    r"""Decode the bytes of a text file; without byte order mark, every line end ``\\n``.

    Raises TextTooLarge: more than `max_bytes` bytes.
    Raises EmptyText: no byte stands for a letter or digit.
    Raises NotText: binary data, damaged text, or an encoding that is not known here.

    >>> decode(b"caf\xe9 \x97 bar\r\n", max_bytes=100)
    'café — bar\n'
    """
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes=max_bytes)
    if not data:
        raise EmptyText("The file is empty (0 bytes); a text with at least one word is needed. Choose another file.")
    text = _decode(data).replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a")  # \x1a ended files under DOS
    control = _CONTROL.search(text)
    if control:
        raise NotText(
            f"The file is not plain text: line {text.count(chr(10), 0, control.start()) + 1} holds the control "
            f"character U+{ord(control[0]):04X}. Open it in the program it was written with, save it as plain text in "
            "UTF-8, and choose that file."
        )
    if not re.search(r"[^\W_]", text):
        raise EmptyText("The file holds no words, only blanks or marks; a text with at least one word is needed.")
    return text


def too_large(size: int, *, max_bytes: int, what: str = "The file has") -> TextTooLarge:
    """Make the error for a file of `size` bytes where `max_bytes` are allowed; `what` begins its message."""
    return TextTooLarge(
        f"{what} {size:,} bytes; at most {max_bytes:,} are allowed. Split it into volumes and add each, or raise "
        "RELIC_MAX_TEXT_BYTES."
    )


def storable(name: str) -> str:
    r"""Replace each byte of a file's name that is not UTF-8, which Python reads as a surrogate and no store takes.

    >>> storable("caf\udce9.txt")
    'caf�.txt'
    """
    return _SURROGATE.sub("\ufffd", name)


def harmless(name: str, *, longest: int = _LONGEST_NAME) -> str:
    r"""Make a name that came with a file fit to be stored and shown: on one line, in one direction, not too long.

    >>> harmless("emma\u202etxt.exe"), harmless("a\nb\x07.txt"), harmless("x" * 9, longest=5)
    ('emma txt.exe', 'a b .txt', 'xxxx…')
    """
    plain = re.sub(r"[^\S\xa0]+", " ", _UNPRINTABLE.sub(" ", storable(name))).strip()
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def file_name(name: str) -> str:
    r"""Take the last part of a file's name, made harmless: what comes before it is nobody's business.

    >>> file_name("../../etc/passwd.txt"), file_name("C:\\texts\\emma.txt"), file_name("..")
    ('passwd.txt', 'emma.txt', '')
    """
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return harmless("" if last in {".", ".."} else last)


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise NotText(
                    f"The file begins with the mark of {encoding.upper()} but is damaged at byte {error.start:,}. "
                    "Fetch it again, or save it as plain text in UTF-8."
                ) from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        encoding = _one_byte_encodings(data)[0]
        return _decode_one_byte(data) if encoding == "cp1252" else data.decode(encoding, "replace")
    return _undoubled(text)


def _one_byte_encodings(data: bytes) -> tuple[str, str]:
    """Tell the likeliest encoding of a file that is not UTF-8, and the one that comes second, empty where none does."""
    if _is_mac_roman(data):
        return "mac-roman", ""
    if len(_CZECH_MARKS.findall(data)) >= _FEW and _CZECH.search(data[:_ENOUGH]):
        return "cp1250", ""
    found = {encoding: len(signs.findall(data)) for encoding, signs in _SIGNS_OF.items()}
    if found["iso8859-2"] and len(_CP1250.findall(data)) > len(_LATIN_2.findall(data)):
        found["cp1250"] = found.pop("iso8859-2")
    best, second = sorted(found, key=lambda each: -found[each])[:2]
    if best != "cp1252" and "cp1252" in (best, second) and found[best] < _FEW:
        best, second = second, best
    # Polish and Czech have letters that are letters in cp1252 too, so that their signs alone decide.
    central = next((each for each in ("iso8859-2", "cp1250") if found.get(each, 0) >= _FEW), "")
    if central and found[central] > found["cp850"]:
        return central, "cp1252" if found["cp1252"] > 4 * found[central] else ""
    if best == "cp850" and _DOS.search(data):
        drawn, written = len(_DRAWN.findall(data)), len(_WRITTEN.findall(data))
        if drawn > written:
            return "cp437", "cp850" if written else ""
        return best, "" if written > drawn else "cp437"
    return best, second if found[second] else ""


def other_reading(data: bytes) -> str:
    """Set two readings of a file side by side, where it is not sure in which encoding it is written; else empty."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        if data.startswith(tuple(mark for mark, _ in _MARKS)):
            return ""
    else:
        return ""
    best, second = _one_byte_encodings(data)
    if not second:
        return ""
    signs = _DOS if "cp437" in {best, second} else _SIGNS_OF.get(second, _SIGNS_OF["iso8859-2"])
    spot = next(signs.finditer(data)).start()
    piece = data[max(0, spot - _BESIDE) : spot + _BESIDE]
    one, other = (" ".join(piece.decode(each, "replace").split()[1:-1]) for each in (best, second))
    return (
        f"It is not sure how the file writes its letters. It was read as {best}: “{one}”. As {second} it would be "
        f"“{other}”. If the second is right, save the file as UTF-8 and add that."
    )


def _is_mac_roman(data: bytes) -> bool:
    return len(_MAC_MARKS.findall(data)) > len(_CP1252_MARKS.findall(data))


def _undoubled(text: str) -> str:
    """Undo UTF-8 that was read as cp1252 and encoded again: all of a text, or nothing of it."""
    if len(_DOUBLED.findall(text[:_ENOUGH])) < _FEW:
        return text
    try:
        return b"".join(_CP1252_BYTES.get(sign) or sign.encode("latin-1") for sign in text).decode("utf-8")
    except UnicodeError:
        return text


def _decode_one_byte(data: bytes) -> str:
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise NotText(
            f"The file is not text in an encoding known here: byte {error.start:,} fits neither UTF-8 nor cp1252 nor "
            "Latin-1. Save or export the document as plain text in UTF-8 and add that."
        ) from None
    letters = sum(map(str.isalpha, text))
    accented = sum(character.isalpha() for character in text if character > "\x7f")
    if accented > _ACCENTED_SHARE * letters:
        raise NotText(
            "The file's encoding is not known: it is neither UTF-8 nor UTF-16, and read as cp1252 or Latin-1 too "
            "many of its letters come out accented. Save it as plain text in UTF-8 and add that."
        )
    return text
