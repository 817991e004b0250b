"""The page that asks and answers: the claim, where it is searched for, the columns of passages."""
