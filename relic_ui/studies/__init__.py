"""The page of the proxy task: studies, their making, answering, their results and their owner."""
