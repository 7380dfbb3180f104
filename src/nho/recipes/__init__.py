"""Ways to solve a prepared problem, each ``solve(problem, run) -> Solution``.

`paper` is the paper's reciprocal loop (preset ``paper``); `guided` is preset ``default``.
"""
