r"""From the bytes of a file to text: encodings told apart, line ends made ``\\n``, what is not text refused.

The order of trial: a byte order mark, UTF-8, Mac Roman by its quotation marks, then the one-byte encodings of western
Europe. UTF-8 that was taken for cp1252 and encoded once more is undone. The last two never fail to
decode, so a guard stands behind them: a text in another alphabet read as Latin-1 is nearly all accented letters.
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
_DOUBLED = re.compile("â€|Ã[\x80-\xbf©¨ª«¯±³´¶¼]|Â[\xa0-\xbf]")
_FEW = 3
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
            f"character U+{ord(control[0]):04X}. Text in UTF-8, UTF-16 with a byte order mark, cp1252 or Latin-1 is "
            "allowed; save or export the document as plain text in UTF-8 and add that."
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
        return data.decode("mac-roman") if _is_mac_roman(data) else _decode_one_byte(data)
    return _undoubled(text)


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
