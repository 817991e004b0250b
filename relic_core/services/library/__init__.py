"""Searching the whole library, or a part of it, at once."""
