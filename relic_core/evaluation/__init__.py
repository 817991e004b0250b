"""Measuring: how well sentences, and later retrievers, agree with what the literature holds."""
