"""From secondary texts to a data set: quotations, pairs, windows on works, examples and their splits."""
