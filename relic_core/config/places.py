"""Where the program itself stands."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
ASSETS = Path(__file__).resolve().parent.parent / "assets"
