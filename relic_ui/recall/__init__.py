"""The page of charts: recall by benchmark, book and length, and the examples behind a figure."""
