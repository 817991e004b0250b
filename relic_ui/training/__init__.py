"""The page of trainings: asking for one, watching it, comparing those there are."""
