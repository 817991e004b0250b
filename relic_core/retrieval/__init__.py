"""Retrievers: each ranks the spans of one length of one work for a claim. `registry` lists them."""
