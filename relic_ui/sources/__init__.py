"""The page of secondary sources: their list, their windows, who quotes a work."""
