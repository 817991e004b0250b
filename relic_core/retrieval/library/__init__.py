"""Ranking the passages of many works at once, from what was prepared of each."""
