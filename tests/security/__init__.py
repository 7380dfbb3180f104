"""What strangers' files must not be able to do, and code that would let them."""
