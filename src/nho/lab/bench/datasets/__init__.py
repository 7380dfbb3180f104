"""Pairs with ground truth: the data sets of the paper, further real ones, and generated ones.

``FAMILIES[name]`` tells the pairs of a family (`Family.names`), loads one (`Family.load`) or all
of them (`Family.pairs`). Which files go where is told in docs/datasets.md, and by the error message
of a family whose files are not there.
"""

from nho.lab.bench.datasets.family import DEVELOPMENT, FAMILIES, Family
from nho.lab.bench.datasets.pair import Pair, data_folder

__all__ = ["DEVELOPMENT", "FAMILIES", "Family", "Pair", "data_folder"]
