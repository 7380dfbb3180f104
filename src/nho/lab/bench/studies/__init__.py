"""The studies of `nho bench`, by name."""

from __future__ import annotations

from nho.lab.bench.studies import (
    ablation,
    cost,
    main_tables,
    parts,
    pictures,
    robustness,
    trust,
    variants,
)
from nho.lab.bench.studies.study import Findings, Request, Study

__all__ = ["STUDIES", "Findings", "Request", "Study"]

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        main_tables.STUDY,
        ablation.STUDY,
        *variants.STUDIES,
        parts.STUDY,
        *robustness.STUDIES,
        *trust.STUDIES,
        cost.STUDY,
        pictures.STUDY,
    )
}
