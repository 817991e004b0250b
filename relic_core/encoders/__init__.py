"""Text into vectors; with `training` the only place that imports torch, and only when something is encoded."""
