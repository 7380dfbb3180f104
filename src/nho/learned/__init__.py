"""Learned features: DiffusionNet and the methods built on it. Needs the extra ``learned``."""
