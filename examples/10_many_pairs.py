"""Many pairs

`run_batch` matches every pair of a table, side by side, each into a folder of its own, and keeps
one summary. A pair that fails does not stop the others; started again, it goes on where it was.
`nho batch pairs.csv --out results` does the same from the command line.
"""

from pathlib import Path

import numpy as np

import nho
from nho.batch import read_pairs, run_batch
from nho.lab.bench.datasets import FAMILIES


def main() -> None:
    """Workers are processes of their own, which import this file: hence the function."""
    folder = Path("10_pairs")
    folder.mkdir(exist_ok=True)
    lines = ["partial,full,anchors,name"]
    for name in ("bean-plane", "ring-plane"):
        pair = FAMILIES["synthetic"].load(None, name)
        pair.partial.write(folder / f"{name}-scan.ply")
        pair.full.write(folder / f"{name}-template.ply")
        nho.write_anchors(folder / f"{name}.csv", pair.anchors(20))
        lines.append(f"{name}-scan.ply,{name}-template.ply,{name}.csv,{name}")
    # A pair that cannot work: anchors of another pair.
    lines.append("bean-plane-scan.ply,ring-plane-template.ply,wrong.csv,wrong")
    nho.write_anchors(folder / "wrong.csv", np.array([[0, 0], [1, 1], [2, 10**6]]))
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")

    rows = run_batch(
        read_pairs(folder / "pairs.csv"), "10_results", nho.preset("default"), report=False
    )
    for row in rows:
        print(f"{row.name}: {row.status} {row.error}")
    print(Path("10_results", "summary.csv").read_text().splitlines()[0])


if __name__ == "__main__":
    main()
