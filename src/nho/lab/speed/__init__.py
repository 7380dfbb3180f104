"""Time, memory and accuracy against size, beside a floor, peers and a plain torch version.

``nho bench --study speed`` runs it; docs/bench.md has the cases.
"""
