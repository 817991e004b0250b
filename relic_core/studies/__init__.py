"""Studies of the proxy task and its kin: made, answered, counted, reported, given away."""
