"""Ground truth, metrics and the shipped sample."""
