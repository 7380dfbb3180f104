"""The recipe of preset ``default``: `recipe` tells it as a whole, the other modules a step each."""
