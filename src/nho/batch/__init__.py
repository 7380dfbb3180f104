"""Many pairs: side by side, resumable, one table."""

from nho.batch.pairs import BatchPair, read_pairs
from nho.batch.runner import BatchProgress, run_batch
from nho.batch.summary import SummaryRow

__all__ = ["BatchProgress", "BatchPair", "SummaryRow", "read_pairs", "run_batch"]
