"""The reading room: a chapter, the place in it, what is lit, kept and cited there."""
