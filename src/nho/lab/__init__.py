"""For researchers: benchmark and methods to compare with."""
