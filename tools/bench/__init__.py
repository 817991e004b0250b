"""Speed and memory, each figure beside a named baseline of the same run: seconds on one machine say little of another.

`running.measure` runs the parts; what they bring back is `figures`, and `tables` sets it for a reader.
"""
