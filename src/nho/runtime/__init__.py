"""Threads, time, memory, cache, signals, and files that appear whole."""
