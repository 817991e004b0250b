"""Signed files: JSON that says its format, and the sha256 of its content; checked whole before anything is used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relic_core.errors import BadBenchmark
from relic_core.formats.files import as_object, decoded, parse


@dataclass(frozen=True, slots=True)
class Envelope:
    """One kind of signed file; the digest is over an object of the `keys`, or over the value of a single one."""

    what: str
    version: int
    keys: tuple[str, ...]
    head: Mapping[str, str]
    sorted: bool = True

    @property
    def format(self) -> str:
        """Name and version as they are in a file."""
        return f"relic {self.what}/{self.version}"

    def write(self, content: Mapping[str, Any]) -> bytes:
        """Write content as a file: the same content makes the same bytes."""
        whole = {"format": self.format, **self.head, "sha256": self.digest(content), **content}
        return f"{json.dumps(whole, indent=1, ensure_ascii=False)}\n".encode()

    def read(self, data: bytes, source: str) -> dict[str, Any]:
        """Read a file and check its format and digest; give its content. Raises BadBenchmark: it is no such file."""
        raw = parse(decoded(data, source), source)
        self._check_format(raw.get("format") if isinstance(raw, dict) else None, source)
        whole = as_object(raw, source, ("format", *self.head, "sha256", *self.keys))
        content = {key: whole[key] for key in self.keys}
        if whole["sha256"] != self.digest(content):
            raise self.damaged(source, "its content is not what its sha256 says: it was changed by hand, or on the way")
        return content

    def digest(self, content: Mapping[str, Any]) -> str:
        """Give the sha256 of the content."""
        signed = content[self.keys[0]] if len(self.keys) == 1 else content
        compact = json.dumps(signed, sort_keys=self.sorted, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(compact.encode("utf-8", "surrogatepass")).hexdigest()

    def damaged(self, source: str, why: str) -> BadBenchmark:
        """Make the error for a file that cannot be used."""
        return BadBenchmark(
            f"{source} cannot be taken in as a {self.what}: {why:.300}. Nothing was changed; save the file anew where "
            "it came from."
        )

    def _check_format(self, found: object, source: str) -> None:
        name, _, number = found.partition("/") if isinstance(found, str) else ("", "", "")
        if name != f"relic {self.what}" or not number.isdecimal():
            raise BadBenchmark(
                f"{source} is no {self.what} of this program: it does not begin with the format '{self.format}'. "
                "Choose the JSON file that this program saved."
            )
        if found != self.format:
            raise BadBenchmark(
                f"{source} was written by another version of this program (format {found:.40}; this one reads "
                f"{self.format}). Nothing was taken in. Update the program, or save the file anew with this version."
            )
