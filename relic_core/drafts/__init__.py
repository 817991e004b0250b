"""Drafts: every quotation of a writer's own text checked against the library."""
