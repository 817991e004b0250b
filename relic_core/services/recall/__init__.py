"""What the Recall page shows: figures of runs by their parts, and the examples behind them."""
