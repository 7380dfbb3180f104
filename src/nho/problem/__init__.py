"""What is matched and what comes out: anchors, prepared pair, solution, result."""
