"""Back-ups of a library: what goes in, how they are made, checked and restored."""
