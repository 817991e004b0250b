"""The page that finds a word: its counts, and its places in their context."""
