"""The data set made of what was mined: splits, leaks, numbers, and the manifest of the public-domain RELiC."""
