"""Shape spaces."""
