"""Mining secondary sources: what is to be done, doing it, where it is kept and what it came to."""
