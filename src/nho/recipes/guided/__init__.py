"""The recipe of preset `default`."""
