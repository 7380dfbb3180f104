"""Fuzzing of every reader: what a file may contain, how it is varied, and what is expected.

`targets` lists the readers with valid seeds, `mutations` varies them, `judge` states the contract,
`guided` keeps the variants that reach new code, `guard` survives what kills a process.
"""
