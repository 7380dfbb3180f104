"""Many pairs: side by side, resumable, one table."""

from nho.batch.pairs import Pair, read_pairs
from nho.batch.runner import BatchProgress, run_batch
from nho.batch.summary import Row

__all__ = ["BatchProgress", "Pair", "Row", "read_pairs", "run_batch"]
