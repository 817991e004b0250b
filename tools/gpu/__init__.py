"""A training prepared here, learnt on a machine with a GPU and brought back."""
