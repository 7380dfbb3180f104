"""Every class of mesh a user may give, and what `nho` does with it: see docs/input.md."""
