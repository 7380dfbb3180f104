"""Figures of the benchmark: curves, pictures of shapes, sheets of them, a gallery in 3D."""
