"""The page "Check a draft"."""
