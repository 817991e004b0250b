"""The page that compares works: what is asked, and the pairs of passages that echo each other."""
