"""Files in parts that a narrow way lets through, each with its digest."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from relic_core.errors import BadWeights

MANIFEST = "manifest.json"
MB = 1_000_000


def cut(content: bytes, folder: Path, name: str, size: int) -> dict[str, Any]:
    """Write what a file holds in parts of at most `size` bytes; give what `joined` takes."""
    parts = []
    for number, at in enumerate(range(0, len(content), size)):
        part = content[at : at + size]
        (folder / f"{name}.{number:03}").write_bytes(part)
        parts.append({"name": f"{name}.{number:03}", "bytes": len(part), "sha256": hashlib.sha256(part).hexdigest()})
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "parts": parts}


def joined(folder: Path, listed: dict[str, Any]) -> bytes:
    """Put a file together. Raises BadWeights: a part is missing, or is not as it was."""
    found = []
    for part in listed["parts"]:
        path = folder / part["name"]
        content = path.read_bytes() if path.is_file() else b""
        if hashlib.sha256(content).hexdigest() != part["sha256"]:
            raise BadWeights(f"{path} is {'damaged' if content else 'missing'}. Copy it here again.")
        found.append(content)
    return b"".join(found)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read what a folder says of itself. Raises BadWeights: it says nothing."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadWeights(f"{folder / MANIFEST} cannot be read ({error}). Copy the folder here again.") from error
    return manifest


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write what a folder says of itself, after all else."""
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
