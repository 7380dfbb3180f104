"""Pairs with ground truth: the data sets of the paper, further real ones, and generated ones.

``FAMILIES[name]`` names the pairs of a family (`Family.names`), loads one (`Family.load`) or all
of them (`Family.pairs`). docs/datasets.md says which files go where, and so does the error message
of a family whose files are not there.
"""

from nho.lab.bench.datasets.family import DEVELOPMENT, FAMILIES, Family
from nho.lab.bench.datasets.pair import AnnotatedPair, data_folder

__all__ = ["DEVELOPMENT", "FAMILIES", "AnnotatedPair", "Family", "data_folder"]
