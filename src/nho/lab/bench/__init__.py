"""Measuring: data sets with ground truth, and tables over them. Uses the public API only."""
