"""Studies of the proxy task: made, answered, counted, given away."""
