"""Time, memory and accuracy against size, beside a floor, peers and a plain torch version.

``python -m benchmarks --help`` tells how.
"""
