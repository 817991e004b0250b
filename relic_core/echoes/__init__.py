"""Echoes: passages of two works that say the same, by words or by meaning; scored, measured, kept, and set."""
