"""Training a cross-encoder: for each claim its quotation and some others, read together with it, and a choice."""
