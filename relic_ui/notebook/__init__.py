"""The page of the notebook: a collection's notes, one of them, what is saved and taken in."""
