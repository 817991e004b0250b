"""Training dense-RELiC on what was mined here: asked for, reckoned, done, watched, compared, made the default."""
