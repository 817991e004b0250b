"""The page of the searches that were made: their list, then and now, two columns compared."""
