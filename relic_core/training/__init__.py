"""Training dense-RELiC: two encoders, one of claims and one of quotations, learnt from pairs and windows."""
