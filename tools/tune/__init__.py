"""Choosing parameters on data that nothing is reported on: BM25, stretches, thresholds of strength."""
