"""Ways to solve a prepared problem: the paper's, and the default."""
