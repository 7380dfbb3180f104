"""Landmark files: every format, how two lists pair, and what is said when they do not fit."""
