"""Faults: kills, full and read-only disks, two processes at once, signals, solvers that fail."""
